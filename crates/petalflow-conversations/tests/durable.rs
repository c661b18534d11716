//! Conversations that are stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::DocumentVersion;
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_conversations::{ActionCall, ConversationFlow, ConversationStateInput};
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
async fn a_position_at_a_node_that_the_document_does_not_have_is_an_error() {
    let flow = talk(json!({ "a": node("A.", json!({})) }));
    let mut input = ConversationStateInput::user_message("Hi.");
    input.position.node = Some("old".into());
    let thread = flow.store(&InMemoryStore::new()).thread("call");
    let error = thread.run(input).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains("the conversation is at node `old`, which the document does not have"),
        "{text}"
    );
}

/// A conversation that says one thing, of a document with these nodes.
fn talk(nodes: Value) -> ConversationFlow {
    let model = ScriptedModel::new(["Hello."]);
    builder(nodes).model(model).build().unwrap()
}

#[tokio::test]
async fn a_changed_document_continues_at_a_node_that_it_has() {
    let store = InMemoryStore::new();
    let (old, new) = (
        talk(json!({ "a": node("A.", json!({})) })),
        talk(json!({ "a": node("Another A.", json!({})) })),
    );
    assert_ne!(old.version(), new.version());
    assert_eq!(
        old.version(),
        talk(json!({ "a": node("A.", json!({})) })).version()
    );
    let thread = old.store(&store).thread("call");
    thread.run(()).await.unwrap().into_finished().unwrap();
    let label = async || {
        let info = thread.info().await.unwrap().unwrap();
        info.labels[DocumentVersion::LABEL].clone()
    };
    assert_eq!(label().await, old.version().to_string());
    let state = new.store(&store).thread("call").run("Hi.").await;
    assert_eq!(state.unwrap().into_finished().unwrap().answer(), "Hello.");
    assert_eq!(label().await, new.version().to_string());
}

#[tokio::test]
async fn a_changed_document_without_the_node_is_refused_with_both_versions() {
    let store = InMemoryStore::new();
    let old = talk(json!({ "a": node("A.", json!({})) }));
    let started = old.store(&store).thread("call").run(()).await.unwrap();
    assert_eq!(started.into_finished().unwrap().answer(), "Hello.");
    let config = json!({ "initial_node": "b", "nodes": { "b": node("B.", json!({})) } });
    let config = serde_json::from_value(config).unwrap();
    let document = petalflow_conversations::document::Conversation::from_config(&config).unwrap();
    let new = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."]));
    let new = new.build().unwrap();
    let error = new
        .store(&store)
        .thread("call")
        .run("Hi.")
        .await
        .unwrap_err();
    let text = error.to_string();
    let (entered, now) = (old.version().to_string(), new.version().to_string());
    for part in ["document `conversation`", "node `a`", &entered, &now] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
    // The old document still continues.
    let again = talk(json!({ "a": node("A.", json!({})) }));
    let state = again.store(&store).thread("call").run("Hi.").await.unwrap();
    assert_eq!(state.into_finished().unwrap().answer(), "Hello.");
}
