//! Prompts and what an editor sees of their turns.

use std::path::Path;
use std::sync::Arc;

use agent_client_protocol::v1::schema::StopReason;
use petalflow::prelude::*;
use petalflow::tool::FuncTool;
use petalflow_agent::{Agent, Limits};
use petalflow_llm::stream::Delta;
use petalflow_llm::{ChatMessage, LlmError, LlmErrorKind, Reply, ScriptedModel};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::editor::{Editor, of, soon, text};
use crate::server;

/// Says where a flower grows.
#[tool]
fn lookup(flower: String) -> String {
    format!("the {flower} grows in the garden")
}

/// Fails.
#[tool]
fn fail() -> petalflow::Result<()> {
    Err("out of order".into())
}

#[tokio::test]
async fn f44_a_turn_streams_thoughts_texts_and_calls() {
    let model = ScriptedModel::new([
        Reply::call("lookup", json!({ "flower": "rose" })).and_call("fail", json!({})),
        Reply::chunks([
            Delta::Thought("Hm. ".into()),
            Delta::Thought("Clear.".into()),
            Delta::Text("In the ".into()),
            Delta::Text("garden.".into()),
        ]),
    ]);
    let agent = Agent::new(model).tools(tools![lookup, fail]);
    let editor = Editor::default();
    let ended = editor
        .with(server(agent), async |editor| {
            let session = editor.session(Path::new("/")).await;
            editor.prompt(&session, "Where is the rose?\nSay it.").await
        })
        .await;
    assert_eq!(ended.unwrap(), StopReason::EndTurn);
    let updates = editor.updates();
    assert_eq!(
        updates[0],
        json!({ "sessionUpdate": "session_info_update", "title": "Where is the rose?" })
    );
    let calls = of(&updates, "tool_call");
    assert_eq!(calls.len(), 2);
    let id = &calls[0]["toolCallId"];
    assert_ne!(id, &calls[1]["toolCallId"]);
    assert_eq!(
        calls[0],
        &json!({
            "sessionUpdate": "tool_call",
            "toolCallId": id,
            "title": "lookup",
            "name": "lookup",
            "status": "in_progress",
            "rawInput": { "flower": "rose" },
        })
    );
    let results = of(&updates, "tool_call_update");
    assert_eq!(results.len(), 2);
    assert_eq!(
        results[0],
        &json!({
            "sessionUpdate": "tool_call_update",
            "toolCallId": id,
            "status": "completed",
            "content": [{ "type": "content", "content": { "type": "text", "text": "the rose grows in the garden" } }],
            "rawOutput": "the rose grows in the garden",
        })
    );
    assert_eq!(results[1]["toolCallId"], calls[1]["toolCallId"]);
    assert_eq!(results[1]["status"], "failed");
    assert_eq!(results[1]["content"][0]["content"]["text"], "out of order");
    let chunk = |kind: &str, text: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } });
    let last: Vec<Value> = updates[updates.len() - 4..].to_vec();
    assert_eq!(
        last,
        [
            chunk("agent_thought_chunk", "Hm. "),
            chunk("agent_thought_chunk", "Clear."),
            chunk("agent_message_chunk", "In the "),
            chunk("agent_message_chunk", "garden."),
        ]
    );
    let messages = editor.messages.lock().unwrap();
    assert_eq!(messages.len(), 4);
    assert!(messages.iter().all(|id| *id == messages[0]), "{messages:?}");
}

#[tokio::test]
async fn f44_a_cancelled_turn_stops_and_the_next_one_goes_on() {
    let begun = Arc::new(Notify::new());
    let begins = Arc::clone(&begun);
    let wait = FuncTool::new("wait", "Waits for ever.", move |_: Value| {
        let begins = Arc::clone(&begins);
        async move {
            begins.notify_one();
            std::future::pending::<petalflow::Result<()>>().await
        }
    });
    let model = ScriptedModel::new([Reply::call("wait", json!({})), "Stopped.".into()]);
    let agent = Agent::new(model.clone()).tool(wait);
    let editor = Editor::default();
    let (first, second, next) = editor
        .with(server(agent), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let prompt = editor.prompt(&session, "Wait.");
            let cancel = async {
                soon(begun.notified()).await;
                let second = editor.prompt(&session, "Hurry.").await;
                editor.cancel(&session);
                second
            };
            let (first, second) = tokio::join!(soon(prompt), cancel);
            (first, second, editor.prompt(&session, "And now?").await)
        })
        .await;
    assert_eq!(first.unwrap(), StopReason::Cancelled);
    assert_eq!(
        second.unwrap_err().message,
        "the session works on a prompt: wait for its end, or cancel it with `session/cancel`"
    );
    assert_eq!(next.unwrap(), StopReason::EndTurn);
    assert_eq!(text(&editor.updates()), "Stopped.");
    let request = model.last_request().unwrap();
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    let results: Vec<String> = results.map(|it| it.content.to_string()).collect();
    assert!(
        results[0].contains("the program stopped while this call ran"),
        "{results:?}"
    );
}

#[tokio::test]
async fn f44_limits_and_failures_end_a_turn() {
    let model = ScriptedModel::new([
        Reply::call("lookup", json!({ "flower": "rose" })),
        Reply::chunks(["Roses"]).broken(LlmError::new(LlmErrorKind::Auth, "the power is out")),
        "Roses are red.".into(),
    ]);
    let limits = Limits::new().requests(1);
    let agent = Agent::new(model).tool(lookup {}).turn_limits(limits);
    let editor = Editor::default();
    let (limited, failed) = editor
        .with(server(agent), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let limited = editor.prompt(&session, "Look.").await;
            (limited, editor.prompt(&session, "Again.").await)
        })
        .await;
    assert_eq!(limited.unwrap(), StopReason::MaxTurnRequests);
    let updates = editor.updates();
    assert!(text(&updates).contains("limit"), "{updates:?}");
    let failed = failed.unwrap_err();
    assert_eq!(i32::from(failed.code), -32603);
    assert!(failed.message.contains("the power is out"), "{failed:?}");
}

#[tokio::test]
async fn f44_a_plan_is_shown() {
    let plan = |first: &str, second: &str| {
        let items =
            json!([{ "text": "read", "state": first }, { "text": "write", "state": second }]);
        Reply::call("write_plan", json!({ "items": items }))
    };
    let model = ScriptedModel::new([
        plan("active", "pending"),
        plan("done", "active"),
        "Half.".into(),
    ]);
    let editor = Editor::default();
    editor
        .with(server(Agent::new(model).plan()), async |editor| {
            let session = editor.session(Path::new("/")).await;
            editor.prompt(&session, "Go.").await.unwrap();
        })
        .await;
    let entry = |text: &str, status: &str| json!({ "content": text, "priority": "medium", "status": status });
    let expected = |first: &str, second: &str| json!({ "sessionUpdate": "plan", "entries": [entry("read", first), entry("write", second)] });
    assert_eq!(
        of(&editor.updates(), "plan"),
        [
            &expected("in_progress", "pending"),
            &expected("completed", "in_progress")
        ]
    );
}
