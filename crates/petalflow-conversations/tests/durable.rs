//! Conversations that are stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_conversations::{ActionCall, ConversationFlow};
use petalflow_llm::{LlmError, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::{builder, message_texts, node, transition};

#[tokio::test]
async fn a_conversation_continues_in_another_process() {
    let store = InMemoryStore::new();
    let flow = |replies: Vec<Reply>| {
        let model = Arc::new(ScriptedModel::new(replies));
        let flow = builder(json!({
            "a": node("A.", json!({ "functions": [transition("go", "b")] })),
            "b": node("B.", json!({ "post_actions": [{ "type": "end_conversation" }] })),
        }));
        (flow.model(Arc::clone(&model)).build().unwrap(), model)
    };
    let (first, _) = flow(vec!["Hello.".into()]);
    let state = first
        .store(&store)
        .thread("call")
        .run(())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(state.answer(), "Hello.");
    let (second, model) = flow(vec![Reply::call("go", json!({})), "Bye.".into()]);
    let state = second
        .store(&store)
        .thread("call")
        .run("I must go.")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(state.answer(), "Bye.");
    assert!(state.has_ended());
    assert_eq!(
        message_texts(&model.requests()[0]),
        ["system: A.", "assistant: Hello.", "user: I must go."]
    );
}

#[tokio::test]
async fn functions_that_were_done_are_not_called_again_after_a_failure() {
    let store = InMemoryStore::new();
    let done = Arc::new(AtomicUsize::new(0));
    let flow = |replies: Vec<Reply>| -> ConversationFlow {
        let done = Arc::clone(&done);
        let book = FuncTool::with_context("book", "Books.", move |_: Value, cx: ToolContext| {
            done.fetch_add(1, Ordering::Relaxed);
            cx.set_state("booked", true);
            async { Ok("booked") }
        });
        let flow = builder(json!({
            "a": node("A.", json!({ "functions": [{ "name": "book", "transition_to": "b" }] })),
            "b": node("B. {{ booked }}", json!({})),
        }));
        flow.model(ScriptedModel::new(replies))
            .tool(book)
            .build()
            .unwrap()
    };
    // The model fails after the function has returned and the node was entered.
    let broken = vec![
        Reply::call("book", json!({})),
        Err(LlmError::request("down")).into(),
    ];
    let error = flow(broken)
        .store(&store)
        .thread("call")
        .run(())
        .await
        .unwrap_err();
    assert!(
        petalflow::error::message_with_sources(&error).contains("the model failed at node `b`")
    );
    let resumed = flow(vec!["Done.".into()])
        .store(&store)
        .thread("call")
        .resume(())
        .await;
    let state = resumed.unwrap().into_finished().unwrap();
    assert_eq!(state.answer(), "Done.");
    assert_eq!(state.values["booked"], true);
    assert_eq!(done.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn actions_that_have_run_are_not_run_again_after_a_failure() {
    let store = InMemoryStore::new();
    let first = Arc::new(AtomicUsize::new(0));
    let flow = |second_fails: bool| {
        let first = Arc::clone(&first);
        let flow = builder(json!({ "a": node("A.", json!({
            "pre_actions": [{ "type": "first" }, { "type": "second" }],
            "post_actions": [{ "type": "end_conversation" }],
        })) }));
        let flow = flow
            .action("first", move |_: ActionCall| {
                first.fetch_add(1, Ordering::Relaxed);
                async { Ok(()) }
            })
            .action("second", move |_: ActionCall| async move {
                if second_fails {
                    Err("no power".into())
                } else {
                    Ok(())
                }
            });
        flow.model(ScriptedModel::new(["Hello."])).build().unwrap()
    };
    flow(true)
        .store(&store)
        .thread("call")
        .run(())
        .await
        .unwrap_err();
    let resumed = flow(false).store(&store).thread("call").resume(()).await;
    assert!(resumed.unwrap().into_finished().unwrap().has_ended());
    assert_eq!(first.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_thread_at_a_node_that_the_document_has_no_more_is_an_error() {
    let store = InMemoryStore::new();
    let flow = |name: &str| {
        let document = json!({ "initial_node": name, "nodes": { name: node("A.", json!({})) } });
        let config = serde_json::from_value(document).unwrap();
        let document =
            petalflow_conversations::document::Conversation::from_config(&config).unwrap();
        let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."]));
        flow.build().unwrap()
    };
    let stored = flow("old").store(&store).thread("call").run(()).await;
    stored.unwrap().into_finished().unwrap();
    let error = flow("new")
        .store(&store)
        .thread("call")
        .run("Hi.")
        .await
        .unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains("the conversation is at node `old`, which the document does not have"),
        "{text}"
    );
}
