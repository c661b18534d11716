//! A turn of an agent.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool;
use petalflow::tool::ToolCall;
use petalflow_agent::Agent;
use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse, Part, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

use super::{Process, server};
use crate::kit::{call, wait_until_settled};

const CALLS: usize = 12;

/// Files a document.
#[tool]
async fn file(
    /// Its number.
    number: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(20)).await;
    format!("document {number} is filed")
}

/// Files one document after another.
pub(super) fn clerk() -> Agent {
    Agent::new(ScriptedModel::from_fn(reply))
        .name("clerk")
        .tool(file {})
}

fn reply(request: &LlmRequest) -> Reply {
    let results = request.messages.iter();
    let number = results.filter(|it| it.role == Role::Tool).count();
    if number == CALLS {
        return Reply::from("All are filed.");
    }
    Reply::from(LlmResponse {
        message: Some(ChatMessage::new(
            Role::Assistant,
            vec![Part::Call(ToolCall {
                id: format!("call-{number}"),
                name: "file".into(),
                arguments: json!({ "number": number }),
                ..ToolCall::default()
            })],
        )),
        ..LlmResponse::default()
    })
}

/// The messages, without the ids and the times of their events.
fn messages(view: &Value) -> Vec<Value> {
    let events = view["state"]["events"].as_array().expect("events").iter();
    events.map(|event| event["message"].clone()).collect()
}

#[test]
fn a_turn_of_an_agent_goes_on_with_the_same_messages_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let body = json!({ "id": "a", "input": "file them" });
    let first = Process::start(folder.path());
    first.call("POST", "/flows/clerk/threads", &body);
    std::thread::sleep(Duration::from_millis(60));
    drop(first);
    let second = Process::start(folder.path());
    std::thread::sleep(Duration::from_millis(60));
    drop(second);
    let last = Process::start(folder.path());
    let view = last.wait_for("clerk:a", "finished");

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let unbroken = runtime.block_on(async {
        let router = server(&InMemoryStore::new()).router();
        let started = call(&router, "POST", "/flows/clerk/threads", body).await;
        wait_until_settled(&router, &started.thread()).await
    });
    let expected = messages(&unbroken);
    assert_eq!(expected.len(), 2 * CALLS + 2);
    assert_eq!(messages(&view), expected);
}
