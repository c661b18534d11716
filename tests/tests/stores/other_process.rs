//! The test program run a second time, to have another process that uses a store.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Says to the test that runs in the other process which server to use.
const SERVER: &str = "PETALFLOW_TEST_OTHER_PROCESS";

/// Another process, killed when it is dropped.
pub(crate) struct OtherProcess(Child);

impl OtherProcess {
    /// Starts the test of this name in another process.
    pub(crate) fn start(test: &str, server: &str) -> Self {
        let own = env::current_exe().expect("this program is a file");
        let child = Command::new(own)
            .args([test, "--exact", "--nocapture"])
            .env(SERVER, server)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it can be run again");
        OtherProcess(child)
    }

    /// Waits until it prints this line.
    pub(crate) fn wait_for(&mut self, line: &str) {
        let output = self.0.stdout.take().expect("it is a pipe, read once");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        // The test harness prints the name of the test, without a line break.
        assert!(
            lines.any(|found| found.ends_with(line)),
            "the other process ends before it prints {line:?}"
        );
    }

    /// Waits for its end, which must be a good one.
    pub(crate) fn finish(mut self) {
        let status = self.0.wait().expect("it ends");
        assert!(status.success(), "the other process fails: {status}");
    }

    /// Ends it as a crash would, with SIGKILL.
    pub(crate) fn kill(mut self) {
        self.0.kill().expect("it is still there");
        self.0.wait().expect("and ends");
    }
}

impl Drop for OtherProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The server to use, in the other process.
pub(crate) fn given_server() -> Option<String> {
    env::var(SERVER).ok()
}
