//! Permissions: the confirmations of an agent.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent_client_protocol::v1::schema::{LoadSessionRequest, StopReason};
use petalflow::tool::FuncTool;
use petalflow_acp::AcpServer;
use petalflow_agent::Agent;
use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
use petalflow_sqlite::SqliteStore;
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
                        { "optionId": "allow_always", "name": "Always allow this tool", "kind": "allow_always" },
                        { "optionId": "reject", "name": "Reject", "kind": "reject_once" },
                        { "optionId": "reject_always", "name": "Always reject this tool", "kind": "reject_always" },
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

/// An agent with two tools that a person confirms, over a store in a file; and how often each was called.
fn two_tools(
    store: &SqliteStore,
    replies: Vec<Reply>,
) -> (AcpServer, ScriptedModel, [Arc<AtomicU32>; 2]) {
    let counts = [Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0))];
    let tool = |name: &str, count: &Arc<AtomicU32>| {
        let count = Arc::clone(count);
        let tool = FuncTool::new(name, "Changes something.", move |_: Value| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok("done") }
        });
        tool.confirm_if(|_| Some("Really?".into()))
    };
    let model = ScriptedModel::new(replies);
    let agent = Agent::new(model.clone());
    let agent = agent
        .tool(tool("delete", &counts[0]))
        .tool(tool("send", &counts[1]));
    (
        AcpServer::new(store, move |_| Ok(agent.clone().into())),
        model,
        counts,
    )
}

fn calls(counts: &[Arc<AtomicU32>; 2]) -> [u32; 2] {
    counts.each_ref().map(|count| count.load(Ordering::SeqCst))
}

#[tokio::test]
async fn f44_what_is_always_decided_holds_for_the_tool_in_the_session_after_it_was_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let send = || Reply::call("send", json!({}));
    let replies = vec![
        delete().and_call("send", json!({})),
        "One.".into(),
        delete(),
        "Two.".into(),
    ];
    let (server, _, counts) = two_tools(&store, replies);
    let editor = Editor::answering([Answer::AllowAlways, Answer::RejectAlways]);
    let connected = editor.clone();
    let session = editor
        .with(server, async |editor| {
            let session = editor.session(Path::new("/")).await;
            editor.prompt(&session, "Tidy up.").await.unwrap();
            // Each tool is asked about once.
            assert_eq!((connected.asked().len(), calls(&counts)), (2, [1, 0]));
            connected.updates();
            editor.prompt(&session, "Again.").await.unwrap();
            assert_eq!((connected.asked().len(), calls(&counts)), (0, [2, 0]));
            let updates = connected.updates();
            let states = of(&updates, "tool_call_update")
                .into_iter()
                .map(|it| &it["status"]);
            assert_eq!(
                states.collect::<Vec<_>>(),
                ["pending", "in_progress", "completed"]
            );
            session
        })
        .await;

    let (server, model, counts) = two_tools(
        &store,
        vec![delete().and_call("send", json!({})), "Three.".into()],
    );
    let second = Editor::default();
    let connected = second.clone();
    second
        .with(server, async |editor| {
            editor.initialize(false).await;
            let request = LoadSessionRequest::new(session.clone(), "/");
            editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            editor.prompt(&session, "Once more.").await.unwrap();
        })
        .await;
    assert_eq!((connected.asked().len(), calls(&counts)), (0, [1, 0]));
    assert!(results(&model).contains(&json!({ "error": "Tool execution not confirmed" })));

    // Another session has none of it.
    let (server, _, counts) = two_tools(&store, vec![send(), "Sent.".into()]);
    let third = Editor::answering([Answer::Allow]);
    third
        .with(server, async |editor| {
            let session = editor.session(Path::new("/")).await;
            editor.prompt(&session, "Send.").await.unwrap();
        })
        .await;
    assert_eq!((third.asked().len(), calls(&counts)), (1, [0, 1]));
}
