//! Processes that are killed at random.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Child;
use std::time::{Duration, Instant};

/// Kills a process after 5 ms to 35 ms, and 0.5 ms more for each of the `kills` before it: so a slow machine makes progress
/// too. Returns whether the process had ended before.
///
/// # Panics
///
/// If the process failed by itself. Its piped standard error output is the message.
pub fn ends_before_kill(process: Child, kills: u64) -> bool {
    std::thread::sleep(lifetime(30_000 + 500 * kills));
    had_ended(process)
}

/// Starts a process for each role, kills them at random, and starts them again, until each role has ended by itself. A process
/// lives 5 ms to 35 ms, and up to 6% longer after each kill of its role: so a slow machine makes progress too, although each
/// process may have to connect to a server first. Returns the number of kills.
///
/// # Panics
///
/// If a process failed by itself. Its piped standard error output is the message.
pub fn kill_until_all_end(roles: usize, start: impl Fn(usize) -> Child) -> u64 {
    let begin = |role, span| (start(role), Instant::now() + lifetime(span), role, span);
    let mut running: Vec<_> = (0..roles).map(|role| begin(role, 30_000)).collect();
    let mut all_kills = 0;
    while let Some(next) = (0..running.len()).min_by_key(|index| running[*index].1) {
        let (process, until, role, span) = running.swap_remove(next);
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        if !had_ended(process) {
            all_kills += 1;
            running.push(begin(role, span + span * 6 / 100));
        }
    }
    all_kills
}

/// How long a process lives: 5 ms, and up to `span` microseconds more by chance.
fn lifetime(span: u64) -> Duration {
    Duration::from_micros(5_000 + RandomState::new().hash_one(0) % span)
}

/// Kills a process. Returns whether it had ended before.
fn had_ended(mut process: Child) -> bool {
    process.kill().expect("it can be killed, or has ended");
    let output = process.wait_with_output().expect("it ends");
    match output.status.code() {
        None => false,
        Some(0) => true,
        Some(_) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}
