//! Permissions: the confirmations of an agent.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent_client_protocol::v1::schema::StopReason;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::editor::{Answer, Editor, of, soon, text};
use crate::server;

/// An agent that deletes as often as it has replies, and how often it has deleted.
fn deleting(replies: Vec<Reply>) -> (Agent, ScriptedModel, Arc<AtomicU32>) {
    let count = Arc::new(AtomicU32::new(0));
    let deleted = Arc::clone(&count);
    let delete = FuncTool::new("delete", "Deletes everything.", move |_: Value| {
        deleted.fetch_add(1, Ordering::SeqCst);
        async { Ok("deleted") }
    });
    let delete = delete.confirm_if(|_| Some("Really everything?".into()));
    let model = ScriptedModel::new(replies);
    (Agent::new(model.clone()).tool(delete), model, count)
}

fn delete() -> Reply {
    Reply::call("delete", json!({ "what": "all" }))
}

/// The results that the model read with its last request.
fn results(model: &ScriptedModel) -> Vec<Value> {
    let request = model.last_request().unwrap();
    let results = request.messages.iter().flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}

#[tokio::test]
async fn f44_a_person_allows_one_call_and_rejects_another() {
    let replies = vec![delete(), "Gone.".into(), delete(), "It stays.".into()];
    let (agent, model, count) = deleting(replies);
    let editor = Editor::answering([Answer::Allow, Answer::Reject]);
    let connected = editor.clone();
    editor
        .with(server(agent), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let ended = editor.prompt(&session, "Tidy up.").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            let updates = connected.updates();
            assert_eq!(count.load(Ordering::SeqCst), 1);
            assert_eq!(text(&updates), "Gone.");
            let call = of(&updates, "tool_call")[0]["toolCallId"].clone();
            let asked = connected.asked();
            assert_eq!(
                asked,
                [json!({
                    "sessionId": session,
                    "toolCall": {
                        "toolCallId": call,
                        "title": "delete",
                        "name": "delete",
                        "kind": "other",
                        "status": "pending",
                        "content": [{ "type": "content", "content": { "type": "text", "text": "Really everything?" } }],
                        "locations": [],
                        "rawInput": { "what": "all" },
                    },
                    "options": [
                        { "optionId": "allow", "name": "Allow", "kind": "allow_once" },
                        { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
                    ],
                })]
            );
            let states: Vec<&Value> = of(&updates, "tool_call_update");
            assert!(states.iter().all(|it| it["toolCallId"] == call));
            let states: Vec<&Value> = states.into_iter().map(|it| &it["status"]).collect();
            assert_eq!(states, ["pending", "in_progress", "completed"]);

            let ended = editor.prompt(&session, "Again.").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            let updates = connected.updates();
            let states = of(&updates, "tool_call_update");
            let states: Vec<&Value> = states.into_iter().map(|it| &it["status"]).collect();
            assert_eq!(states, ["pending", "failed"]);
            assert_eq!(text(&updates), "It stays.");
        })
        .await;
    assert_eq!(count.load(Ordering::SeqCst), 1, "it was not called");
    assert_eq!(
        results(&model).last().unwrap(),
        &json!({ "error": "Tool execution not confirmed" })
    );
}

#[tokio::test]
async fn f44_a_call_of_a_cancelled_turn_is_refused_with_the_next_prompt() {
    let (agent, model, count) = deleting(vec![delete(), "It stays.".into()]);
    let editor = Editor::answering([Answer::Nothing]);
    let waits = Arc::clone(&editor.waits);
    let (cancelled, next) = editor
        .with(server(agent), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let prompt = editor.prompt(&session, "Tidy up.");
            let cancel = async {
                soon(waits.notified()).await;
                editor.cancel(&session);
            };
            let (cancelled, ()) = tokio::join!(soon(prompt), cancel);
            (cancelled, editor.prompt(&session, "Do not.").await)
        })
        .await;
    assert_eq!(cancelled.unwrap(), StopReason::Cancelled);
    assert_eq!(next.unwrap(), StopReason::EndTurn);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(editor.asked().len(), 1, "nobody is asked again");
    assert_eq!(
        results(&model).last().unwrap(),
        &json!({
            "error": "Tool execution not confirmed: the user has cancelled the turn in which the call was asked for"
        })
    );
    let request = model.last_request().unwrap();
    let last = request.messages.last().unwrap();
    assert_eq!(last.text(), "Do not.");
    assert_eq!(text(&editor.updates()), "It stays.");
}
