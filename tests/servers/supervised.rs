//! A server that ends with this process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Starts the server, waits until a line comes through the pipe or the pipe closes, and stops the server. Removes the folder if
/// the pipe was closed.
const SUPERVISOR: &str = r#"
trap '' INT TERM
folder=$1 signal=$2
shift 2
"$@" >>"$folder/log" 2>&1 </dev/null &
server=$!
read -r stop
kill -s "$signal" "$server" 2>/dev/null
{ wait "$server"; } 2>/dev/null
[ -n "$stop" ] || rm -rf "$folder"
"#;

/// A server process, its folder and the command that starts it.
#[derive(Debug)]
pub(crate) struct Supervised {
    folder: PathBuf,
    command: Vec<String>,
    signal: &'static str,
    supervisor: Mutex<Option<Child>>,
}

impl Supervised {
    /// Does not start it yet. `signal` shuts the server down cleanly.
    pub(crate) fn new(folder: PathBuf, command: Vec<String>, signal: &'static str) -> Self {
        Supervised {
            folder,
            command,
            signal,
            supervisor: Mutex::default(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server and waits until it is ready.
    pub(crate) fn start(&self, is_ready: impl Fn() -> bool) {
        let mut supervisor = self
            .supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let child = Command::new("sh")
            .args(["-c", SUPERVISOR, "sh"])
            .arg(&self.folder)
            .arg(self.signal)
            .args(&self.command)
            .stdin(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        *supervisor = Some(child);
        let begin = Instant::now();
        while !is_ready() {
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(
                begin.elapsed() < Duration::from_mins(2),
                "the server does not start: {:?}\n{}",
                self.command,
                log()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server. What it has stored remains.
    pub(crate) fn stop(&self) {
        let mut supervisor = self
            .supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = supervisor.take() else {
            return;
        };
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(b"stop\n").expect("the supervisor reads");
        }
        child.wait().expect("the supervisor ends");
    }
}

/// Statics are not dropped: for those the supervisor stops the server.
impl Drop for Supervised {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
