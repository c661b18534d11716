//! Tools that are programs: the arguments are JSON on stdin, the result is JSON or text on stdout.

use std::process::Stdio;
use std::str::FromStr;

use petalflow::BoxError;
use petalflow::tool::FuncTool;
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

/// The bytes that a program may print.
const MAX_BYTES: u64 = 16 << 20;

/// A tool and its program: `NAME=COMMAND`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramTool {
    pub(crate) name: String,
    command: Vec<String>,
}

impl FromStr for ProgramTool {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, command) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or("write `NAME=COMMAND`")?;
        let command =
            shlex::split(command).ok_or("a quotation mark of the command is not closed")?;
        if command.is_empty() {
            return Err("the command is empty: write `NAME=COMMAND`".into());
        }
        Ok(ProgramTool {
            name: name.into(),
            command,
        })
    }
}

impl ProgramTool {
    /// The program as a tool.
    pub(crate) fn tool(&self) -> FuncTool {
        let this = self.clone();
        FuncTool::new(
            &self.name,
            format!("Runs `{}`.", self.command[0]),
            move |arguments: Map<String, Value>| {
                let this = this.clone();
                async move { this.call(&Value::Object(arguments)).await }
            },
        )
    }

    /// Starts the program. Dropping the child kills it.
    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = Command::new(&self.command[0]);
        // Ctrl-C on the terminal must reach this program only, which then waits for the tool or kills it.
        #[cfg(unix)]
        command.process_group(0);
        command
            .args(&self.command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// Runs the program. Dropping the future kills it.
    pub(crate) async fn call(&self, arguments: &Value) -> Result<Value, BoxError> {
        let io_failure = |error: std::io::Error| {
            format!("the program `{}` cannot be used: {error}", self.command[0])
        };
        let mut child = self.spawn().map_err(io_failure)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let input = format!("{arguments}\n");
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program need not read its arguments, so a closed pipe is not an error.
                let _ = stdin.write_all(input.as_bytes()).await;
            }
        };
        let (mut printed, mut errors) = (Vec::new(), Vec::new());
        let read = async {
            if let Some(stdout) = stdout {
                stdout.take(MAX_BYTES + 1).read_to_end(&mut printed).await?;
            }
            Ok::<_, std::io::Error>(())
        };
        let read_errors = async {
            if let Some(stderr) = stderr {
                stderr.take(MAX_BYTES).read_to_end(&mut errors).await?;
            }
            Ok::<_, std::io::Error>(())
        };
        let ((), read, read_errors) = tokio::join!(write, read, read_errors);
        read.and(read_errors).map_err(io_failure)?;
        if printed.len() as u64 > MAX_BYTES {
            return Err(format!(
                "the program `{}` printed more than {MAX_BYTES} bytes",
                self.command[0]
            )
            .into());
        }
        let status = child.wait().await.map_err(io_failure)?;
        if !status.success() {
            let errors = String::from_utf8_lossy(&errors);
            return Err(format!(
                "the program `{}` ended with {status}: {}",
                self.command[0],
                errors.trim()
            )
            .into());
        }
        let text = String::from_utf8(printed).map_err(|_| {
            format!(
                "the program `{}` printed what is not UTF-8",
                self.command[0]
            )
        })?;
        let text = text.trim();
        Ok(serde_json::from_str(text).unwrap_or_else(|_| text.into()))
    }
}
