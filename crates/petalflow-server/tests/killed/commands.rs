//! Commands to a thread that another process runs.

use std::time::Duration;

use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use serde_json::{Value, json};

use super::Process;

#[state]
pub(super) struct Clock {
    #[key(input)]
    until: u64,
    #[key(sum)]
    ticks: u64,
}

#[node(Clock)]
async fn tick(ticks: &u64, until: &u64) -> (ClockTicks, bool) {
    tokio::time::sleep(Duration::from_millis(20)).await;
    (ClockTicks(1), ticks + 1 < *until)
}

flow!(pub(super) RunClock(Clock) { tick -> match { true => tick, false => END } });

pub(super) fn clock() -> ServedFlow<RunClock> {
    ServedFlow::new(RunClock::new().limit(1_000_000)).named("clock")
}

fn begin(process: &Process, id: &str, until: u64) -> String {
    let body = json!({ "id": id, "input": { "until": until } });
    process.call("POST", "/flows/clock/threads", &body);
    format!("/threads/clock:{id}")
}

fn status(process: &Process, path: &str) -> Value {
    process.call("GET", path, &Value::Null)["status"].clone()
}

fn ticks(process: &Process, path: &str) -> u64 {
    let view = process.call("GET", path, &Value::Null);
    view["state"]["ticks"].as_u64().expect("a number")
}

/// Sends a command with a long wait for the end of the run. Returns the status of the thread.
fn command(process: &Process, path: &str, command: &str) -> Value {
    let path = format!("{path}/{command}");
    let response = process.request("POST", &path, "Prefer: wait=20", "{}");
    let (code, body) = response.expect("a response");
    assert_eq!(code, 202, "{path}: {body}");
    body["status"].clone()
}

#[test]
fn f43_any_process_stops_a_thread_that_another_one_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = Process::start(folder.path());
    let other = Process::start(folder.path());
    let path = begin(&one, "a", 1_000_000);
    let mut ticked = 0;
    // Each process runs the thread and is told by the other one.
    for (runs, tells) in [(&one, &other), (&other, &one)] {
        for (stop, expected) in [("hold", "held"), ("cancel", "held"), ("drain", "stopped")] {
            assert_eq!(command(tells, &path, stop), expected);
            assert_eq!(status(runs, &path), expected);
            // The run has gone on until then, and does not go on now.
            let ticks_then = ticks(runs, &path);
            assert!(ticks_then > ticked, "{ticks_then} {ticked}");
            std::thread::sleep(Duration::from_millis(100));
            assert_eq!(ticks(tells, &path), ticks_then);
            ticked = ticks_then;
            let next = if stop == "drain" { tells } else { runs };
            next.call("POST", &format!("{path}/resume"), &json!({}));
        }
    }
    assert_eq!(command(&other, &path, "cancel"), "held");
}

#[test]
fn f43_a_thread_of_a_killed_process_is_held_by_another_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = Process::start(folder.path());
    let other = Process::start(folder.path());
    let path = begin(&one, "a", 1_000_000);
    drop(one);
    assert_eq!(command(&other, &path, "cancel"), "held");
    // The next process leaves it alone.
    let next = Process::start(folder.path());
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(status(&next, &path), "held");
}

#[test]
fn f43_a_command_to_a_thread_that_has_ended_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let one = Process::start(folder.path());
    let other = Process::start(folder.path());
    let path = begin(&one, "a", 2);
    one.wait_for("clock:a", "finished");
    for stop in ["cancel", "hold", "drain"] {
        let path = format!("{path}/{stop}");
        let response = other.request("POST", &path, "Accept: */*", "{}");
        let (code, body) = response.expect("a response");
        assert_eq!(code, 409, "{body}");
        assert_eq!(body["error"], "no run has the thread: it is finished");
    }
    assert_eq!(status(&other, &path), "finished");
}
