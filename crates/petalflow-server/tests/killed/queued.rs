//! Tasks of A2A that are queued when servers are killed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

use super::protocols::{a2a_of, wait_until};
use super::{FOLDER, Process};

/// The file with which the test lets the tool of the agent end.
fn gate(folder: &Path) -> PathBuf {
    folder.join("go")
}

/// An agent whose tool works until the test lets it end, in whichever process.
pub(super) fn patient() -> Agent {
    let folder = std::env::var(FOLDER).unwrap_or_default();
    let work = FuncTool::new("work", "Works.", move |_: Value| {
        let gate = gate(Path::new(&folder));
        async move {
            while !gate.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok("worked")
        }
    });
    Agent::new(ScriptedModel::from_fn(reply))
        .name("patient")
        .tool(work)
}

fn reply(request: &LlmRequest) -> Reply {
    let said = request.messages.iter().rev();
    let mut said = said.filter(|it| it.role == Role::User);
    let said = said.next().map(ChatMessage::text).unwrap_or_default();
    let has_worked = request.messages.iter().any(|it| it.role == Role::Tool);
    if said == "work" && !has_worked {
        return Reply::call("work", json!({}));
    }
    Reply::text(format!("You said {said}."))
}

fn send(process: &Process, id: &str, text: &str) -> Value {
    let message = json!({ "messageId": id, "role": "ROLE_USER", "contextId": "c",
        "parts": [{ "text": text }], "metadata": { "multitask_strategy": "enqueue" } });
    let now = json!({ "returnImmediately": true });
    let params = json!({ "message": message, "configuration": now });
    a2a_of(process, "patient", "SendMessage", &params)["task"].clone()
}

fn task(process: &Process, id: &Value) -> Value {
    a2a_of(process, "patient", "GetTask", &json!({ "id": id }))
}

fn state(task: &Value) -> &Value {
    &task["status"]["state"]
}

#[test]
fn f43_a_queued_task_is_found_and_cancelled_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Process::start(folder.path());
    send(&first, "m1", "work");
    let [kept, cancelled] = [("m2", "a"), ("m3", "b")].map(|(id, text)| {
        let task = send(&first, id, text);
        assert_eq!(state(&task), "TASK_STATE_SUBMITTED", "{task}");
        task["id"].clone()
    });
    drop(first);
    let second = Process::start(folder.path());
    assert_eq!(state(&task(&second, &kept)), "TASK_STATE_SUBMITTED");
    let cancel = json!({ "id": cancelled });
    let answer = a2a_of(&second, "patient", "CancelTask", &cancel);
    assert_eq!(state(&answer), "TASK_STATE_CANCELED", "{answer}");
    drop(second);
    let third = Process::start(folder.path());
    // The client does not know that its message was stored.
    let again = send(&third, "m2", "a");
    assert_eq!(
        (&again["id"], state(&again)),
        (&kept, &json!("TASK_STATE_SUBMITTED"))
    );
    std::fs::write(gate(folder.path()), "").expect("it is written");
    let done = wait_until("TASK_STATE_COMPLETED", "/status/state", || {
        task(&third, &kept)
    });
    assert_eq!(done["artifacts"][0]["parts"][0]["text"], "You said a.");
    assert_eq!(state(&task(&third, &cancelled)), "TASK_STATE_CANCELED");
    // Its turn never begins, also after the message behind it.
    let last = send(&third, "m4", "c")["id"].clone();
    wait_until("TASK_STATE_COMPLETED", "/status/state", || {
        task(&third, &last)
    });
    let view = third.call("GET", "/threads/patient:c", &Value::Null);
    let events = view["state"]["events"].as_array().expect("events").iter();
    let messages = events.map(|event| {
        let message = serde_json::from_value::<ChatMessage>(event["message"].clone());
        message.expect("a message")
    });
    let of_user = messages.filter(|message| message.role == Role::User);
    let texts: Vec<String> = of_user.map(|message| message.text()).collect();
    assert_eq!(texts, ["work", "a", "c"]);
    assert_eq!(state(&task(&third, &cancelled)), "TASK_STATE_CANCELED");
}
