//! Actions before and after the model's turn.

use std::sync::{Arc, Mutex};

use petalflow_conversations::{ActionCall, ConversationEvent, ConversationStateInput};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::json;

use crate::{builder, event_texts, node, transition, turn};

#[tokio::test]
async fn f076_f080_f082_built_in_actions_and_those_of_the_program() {
    let calls: Arc<Mutex<Vec<String>>> = Arc::default();
    let record = |name: &'static str| {
        let calls = Arc::clone(&calls);
        move |call: ActionCall| {
            let text = call.action.text.clone().unwrap_or_default();
            let line = format!("{name} {} {text}{}", call.node, call.action.extra["volume"]);
            calls.lock().unwrap().push(line);
            async { Ok(()) }
        }
    };
    let flow = builder(json!({ "a": node("A.", json!({ "pre_actions": [
        { "type": "tts_say", "text": "One moment." },
        { "type": "function", "handler": "log", "volume": 1 },
        { "type": "beep", "volume": 2, "text": "{{ tone }} " },
    ] })) }));
    let flow = flow.model(ScriptedModel::new(["Hello."]));
    let flow = flow
        .action("log", record("log"))
        .action("beep", record("beep"))
        .build()
        .unwrap();
    let (_, events) = turn(
        &flow,
        ConversationStateInput::start().with_value("tone", "high"),
    )
    .await;
    assert_eq!(
        event_texts(&events),
        [
            "say One moment.",
            "action function",
            "action beep",
            "at a",
            "Hello."
        ]
    );
    assert_eq!(*calls.lock().unwrap(), ["log a 1", "beep a high 2"]);
}

#[tokio::test]
async fn f077_a_node_without_actions_has_none() {
    let flow =
        builder(json!({ "a": node("A.", json!({ "pre_actions": [], "post_actions": [] })) }));
    let flow = flow.model(ScriptedModel::new(["Hello."])).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["at a", "Hello."]);
}

#[tokio::test]
async fn f078_a_tts_say_without_text_is_skipped() {
    let flow =
        builder(json!({ "a": node("A.", json!({ "pre_actions": [{ "type": "tts_say" }] })) }));
    let flow = flow.model(ScriptedModel::new(["Hello."])).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["at a", "Hello."]);
}

#[tokio::test]
async fn f079_the_end_is_said_and_nothing_follows() {
    let flow = builder(json!({ "a": node("A.", json!({ "post_actions": [
        { "type": "end_conversation", "text": "Bye, {{ name }}." },
        { "type": "tts_say", "text": "never" },
    ] })) }));
    let flow = flow.model(ScriptedModel::new(["Hello."])).build().unwrap();
    let (state, events) = turn(
        &flow,
        ConversationStateInput::start().with_value("name", "Ann"),
    )
    .await;
    assert_eq!(
        event_texts(&events),
        ["at a", "Hello.", "say Bye, Ann.", "ended"]
    );
    assert!(state.has_ended());
    let error = flow.run(state.next_input("Wait!")).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains("the conversation has ended at node `a`: begin a new one"),
        "{text}"
    );
}

#[tokio::test]
async fn f079_a_conversation_can_end_before_the_model_speaks() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({})),
        "never".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [transition("go", "b")] })),
        "b": node("B.", json!({ "pre_actions": [{ "type": "end_conversation", "text": "Bye." }] })),
    }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    let (state, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["at a", "say Bye.", "ended"]);
    assert!(state.has_ended());
    assert_eq!(state.position.node.as_deref(), Some("b"));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn f081_a_handler_runs_after_what_was_said_before_it() {
    // The listener has the text before the handler runs.
    let received = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::new(Mutex::new(None));
    let beep = {
        let (received, seen) = (Arc::clone(&received), Arc::clone(&seen));
        move |_: ActionCall| {
            let count = received.lock().unwrap().len();
            *seen.lock().unwrap() = Some(count);
            async { Ok(()) }
        }
    };
    let flow = builder(json!({ "a": node("A.", json!({ "pre_actions": [
        { "type": "tts_say", "text": "One." },
        { "type": "beep" },
    ] })) }));
    let flow = flow
        .model(ScriptedModel::new(["Hello."]))
        .action("beep", beep)
        .build()
        .unwrap();
    let mut events = flow.run(()).events();
    while let Some(event) = events.next().await {
        if let Some(ConversationEvent::Say { text }) = ConversationEvent::of(&event) {
            received.lock().unwrap().push(text.clone());
        }
    }
    assert_eq!(*seen.lock().unwrap(), Some(1));
}

#[tokio::test]
async fn f082_an_error_of_a_handler_names_the_action() {
    let flow = builder(json!({ "a": node("A.", json!({ "pre_actions": [{ "type": "beep" }] })) }));
    let flow = flow.model(ScriptedModel::new(["Hello."]));
    let flow = flow
        .action("beep", |_: ActionCall| async { Err("no speaker".into()) })
        .build()
        .unwrap();
    let error = flow.run(()).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains("action `beep` of node `a` failed: no speaker"),
        "{text}"
    );
}
