//! Starts the program.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// What the program printed, and its exit code.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn from_output(output: &Output) -> Self {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }

    /// The JSON on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// The lines of JSON on stdout.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

/// The program, with a clean environment, in the folder of the documents of these tests.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_petalflow"));
    command
        .current_dir(document(""))
        .env_remove("PETALFLOW_SERVER")
        .env_remove("PETALFLOW_STORE")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null());
    command
}

/// Runs the program with a line of arguments: the format of `format!`, and words and quotation marks as in a shell.
macro_rules! petalflow {
    ($($line:tt)+) => {
        $crate::program::run_program($crate::program::words(&format!($($line)+)))
    };
}
pub(crate) use petalflow;

/// The words of a line, as a shell splits it.
pub(crate) fn words(line: &str) -> Vec<String> {
    shlex::split(line).expect("all quotation marks are closed")
}

/// Runs the program with these arguments.
pub(crate) fn run_program<S: AsRef<std::ffi::OsStr>>(
    arguments: impl IntoIterator<Item = S>,
) -> Ran {
    Ran::from_output(
        &program()
            .args(arguments)
            .output()
            .expect("the program starts"),
    )
}

/// Starts the program with a line of arguments. Its output is piped.
pub(crate) fn start(line: &str) -> Child {
    program()
        .args(words(line))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Runs the program with these arguments and this input.
pub(crate) fn run_with_input<'a>(input: &str, arguments: impl IntoIterator<Item = &'a str>) -> Ran {
    let mut child = program()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("its stdin is a pipe");
    // A program that has ended reads nothing.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    Ran::from_output(&child.wait_with_output().expect("the program ends"))
}

/// The path of a document of these tests.
pub(crate) fn document(name: &str) -> String {
    format!("{}/tests/documents/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder for one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A file in a folder.
pub(crate) fn file(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("the file can be written");
    path.display().to_string()
}

/// A path in a folder.
pub(crate) fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).display().to_string()
}

/// A file of the test data, if the data is there.
pub(crate) fn test_data(path: &str) -> Option<PathBuf> {
    let data = std::env::var_os("PETALFLOW_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = data.join(path);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: the test data `{}` is not there", path.display());
    None
}
