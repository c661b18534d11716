//! A server that ends with us.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Starts the server, waits until something comes through the pipe or the pipe closes, and stops the server. If the pipe has
/// closed nobody needs its folder any more.
const SUPERVISOR: &str = r#"
trap '' INT TERM
folder=$1 signal=$2
shift 2
"$@" >>"$folder/log" 2>&1 </dev/null &
server=$!
read -r stop
kill -s "$signal" "$server" 2>/dev/null
wait "$server"
[ -n "$stop" ] || rm -rf "$folder"
"#;

/// A server process, its folder and the command that starts it.
pub(crate) struct Supervised {
    folder: PathBuf,
    command: Vec<String>,
    signal: &'static str,
    supervisor: Mutex<Option<Child>>,
}

impl Supervised {
    /// Does not start it yet. `signal` ends the server in an orderly way.
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
                begin.elapsed() < Duration::from_secs(30),
                "the server does not start: {:?}\n{}",
                self.command,
                log()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server and keeps what it has stored.
    pub(crate) fn stop(&self) {
        let mut supervisor = self
            .supervisor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(mut child) = supervisor.take() else {
            return;
        };
        if let Some(mut pipe) = child.stdin.take() {
            pipe.write_all(b"stop\n").expect("the supervisor listens");
        }
        child.wait().expect("the supervisor ends");
    }
}

/// Statics are not dropped, which is what the supervisor is for.
impl Drop for Supervised {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
