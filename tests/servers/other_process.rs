//! The test program run a second time: another process that uses a store.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The environment variable that names the server and the store to the test in the other process.
const SERVER: &str = "PETALFLOW_TEST_OTHER_PROCESS";

/// Another process, killed when it is dropped.
#[derive(Debug)]
pub struct OtherProcess(Child);

impl OtherProcess {
    /// Starts the test of this name in another process.
    pub fn start(test: &str, server: &str) -> Self {
        let program = env::current_exe().expect("the test program is a file");
        let child = Command::new(program)
            .args([test, "--exact", "--nocapture"])
            .env(SERVER, server)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test program starts");
        OtherProcess(child)
    }

    /// Waits until the process prints this line.
    pub fn wait_for(&mut self, line: &str) {
        let output = self.0.stdout.take().expect("a pipe that is read once");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        // The test harness prints the name of the test, without a line break.
        assert!(
            lines.any(|found| found.ends_with(line)),
            "the other process ends before it prints {line:?}"
        );
    }

    /// Waits until the process ends. It must succeed.
    pub fn finish(mut self) {
        let status = self.0.wait().expect("the process ends");
        assert!(status.success(), "the other process fails: {status}");
    }

    /// Kills the process (SIGKILL).
    pub fn kill(mut self) {
        self.0.kill().expect("the process is running");
        self.0.wait().expect("the process ends");
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In the other process: the server and store to use, as the first process named them.
pub fn server_of_first_process() -> Option<String> {
    env::var(SERVER).ok()
}
