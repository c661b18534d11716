//! A turn of an agent whose client speaks a protocol.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Process, exchange};

const ANSWER: &str = "All are filed.";
const ACCEPT: &str = "Accept: text/event-stream";

/// Kills two servers in the middle of a turn that `begin` has begun, and returns a third one.
fn killed(folder: &std::path::Path, begin: impl FnOnce(&Process) -> Value) -> (Process, Value) {
    let first = Process::start(folder);
    let begun = begin(&first);
    std::thread::sleep(Duration::from_millis(60));
    drop(first);
    let second = Process::start(folder);
    std::thread::sleep(Duration::from_millis(60));
    drop(second);
    (Process::start(folder), begun)
}

/// What `read` returns as soon as its status is this one.
pub(super) fn wait_until(status: &str, at: &str, read: impl Fn() -> Value) -> Value {
    let begun = Instant::now();
    loop {
        let value = read();
        if value.pointer(at).and_then(Value::as_str) == Some(status) {
            return value;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{value}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn a2a(process: &Process, method: &str, params: &Value) -> Value {
    a2a_of(process, "clerk", method, params)
}

pub(super) fn a2a_of(process: &Process, agent: &str, method: &str, params: &Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let path = format!("/a2a/{agent}");
    let response = process.request("POST", &path, "A2A-Version: 1.0", &call.to_string());
    response.expect("it answers").1["result"].clone()
}

/// The server-sent events of a response.
fn events(response: &str) -> Vec<Value> {
    let data = response
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str(data.trim()).expect("JSON"))
        .collect()
}

#[test]
fn a_task_of_a2a_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let message =
        json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "file them" }] });
    let now = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let (last, task) = killed(folder.path(), |first| {
        a2a(first, "SendMessage", &now)["task"].clone()
    });
    let id = json!({ "id": task["id"] });
    let done = wait_until("TASK_STATE_COMPLETED", "/status/state", || {
        a2a(&last, "GetTask", &id)
    });
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], ANSWER);
    let again = a2a(&last, "SendMessage", &now);
    assert_eq!(again["task"]["id"], task["id"]);
}

#[test]
fn a_response_of_openai_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = json!({ "model": "clerk", "input": "file them", "background": true });
    let (last, begun) = killed(folder.path(), |first| {
        first.call("POST", "/v1/responses", &body)
    });
    let path = format!("/v1/responses/{}", begun["id"].as_str().expect("an id"));
    let done = wait_until("completed", "/status", || {
        last.call("GET", &path, &Value::Null)
    });
    let message = done["output"].as_array().and_then(|items| items.last());
    assert_eq!(message.expect("a message")["content"][0]["text"], ANSWER);
    // A client that has read the first two events gets all others, with the numbers that they had before.
    let rest = format!("{path}?stream=true&starting_after=1");
    let rest = exchange(&last.address, "GET", &rest, ACCEPT, "").expect("it answers");
    let rest = events(&rest);
    let numbers = rest.iter().map(|event| event["sequence_number"].as_u64());
    assert!(numbers.eq((2..).take(rest.len()).map(Some)), "{rest:?}");
    let end = rest.last().expect("an event");
    assert_eq!(end["type"], "response.completed");
    assert_eq!(end["response"]["output"], done["output"]);
}

#[test]
fn a_run_of_ag_ui_is_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let messages = json!([{ "id": "m1", "role": "user", "content": "file them" }]);
    let input = json!({ "threadId": "t", "runId": "r1", "messages": messages, "state": {} });
    let (last, _) = killed(folder.path(), |first| {
        // Its events are lost with the server.
        let (address, body) = (first.address.clone(), input.to_string());
        std::thread::spawn(move || exchange(&address, "POST", "/ag-ui/clerk", ACCEPT, &body));
        Value::Null
    });
    let body = input.to_string();
    let response = exchange(&last.address, "POST", "/ag-ui/clerk", ACCEPT, &body);
    let response = response.expect("it answers");
    let events = events(&response);
    let kind = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    let texts = events.iter().filter_map(|event| event["delta"].as_str());
    assert!(texts.collect::<String>().ends_with(ANSWER), "{response}");
    assert_eq!((kind("TOOL_CALL_RESULT"), kind("RUN_FINISHED")), (12, 1));
}
