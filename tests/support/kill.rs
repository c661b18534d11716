//! Processes that are killed at random.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Child;
use std::time::Duration;

/// Kills a process after 5 ms to 35 ms, and 0.5 ms more for each of the `kills` before it: so a slow machine makes progress
/// too. Returns whether the process had ended before.
///
/// # Panics
///
/// If the process failed by itself. Its piped standard error output is the message.
pub fn ends_before_kill(mut process: Child, kills: u64) -> bool {
    let span = 30_000 + 500 * kills;
    std::thread::sleep(Duration::from_micros(
        5_000 + RandomState::new().hash_one(0) % span,
    ));
    process.kill().expect("it can be killed, or has ended");
    let output = process.wait_with_output().expect("it ends");
    match output.status.code() {
        None => false,
        Some(0) => true,
        Some(_) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}
