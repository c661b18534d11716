//! Conversation flows.

mod actions;
mod building;
mod durable;
mod entering;
mod examples;
mod exports;
mod functions;
mod killed;
#[cfg(feature = "macros")]
mod typed;

use petalflow_conversations::document::{Conversation, Message};
use petalflow_conversations::{
    ConversationBuilder, ConversationEvent, ConversationFlow, ConversationState,
    ConversationStateInput,
};
use petalflow_llm::{ChatMessage, LlmRequest, Role};
use serde_json::{Value, json};

/// A declarative document with these nodes, which starts at `a`.
fn document(nodes: Value) -> Conversation {
    let config = json!({ "initial_node": "a", "nodes": nodes });
    let config = serde_json::from_value(config).expect("the types fit");
    Conversation::from_config(&config).expect("no errors")
}

fn builder(nodes: Value) -> ConversationBuilder {
    ConversationFlow::builder(document(nodes))
}

/// A node with this task and more fields.
fn node(task: &str, more: Value) -> Value {
    let mut node = json!({ "task_messages": [Message::new("developer", task)] });
    let fields = node.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    node
}

/// A function without code that leads to a node.
fn transition(name: &str, to: &str) -> Value {
    json!({ "name": name, "transition_only": true, "description": format!("Go to {to}."), "transition_to": to })
}

/// What the model read, as `role: text`.
fn message_texts(request: &LlmRequest) -> Vec<String> {
    let shown = |message: &ChatMessage| match message.role {
        Role::Tool => {
            let results = message.tool_results();
            let results = results.map(|it| format!("result: {}", it.content));
            results.collect::<Vec<_>>().join(" ")
        }
        _ if message.text().is_empty() => {
            let calls = message.calls().map(|it| it.name.as_str());
            format!("calls: {}", calls.collect::<Vec<_>>().join(", "))
        }
        role => format!("{role}: {}", message.text()),
    };
    request.messages.iter().map(shown).collect()
}

/// The functions that the model was offered.
fn tool_names(request: &LlmRequest) -> Vec<&str> {
    request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect()
}

/// Runs a turn and returns what happened.
async fn turn(
    flow: &ConversationFlow,
    input: ConversationStateInput,
) -> (ConversationState, Vec<ConversationEvent>) {
    let mut run = flow.run(input).events();
    let mut events = Vec::new();
    let mut state = None;
    while let Some(event) = run.next().await {
        events.extend(ConversationEvent::of(&event).cloned());
        match event.kind {
            petalflow::event::EventKind::Finished { state: last } => state = Some(last),
            petalflow::event::EventKind::Failed { error } => panic!("{error}"),
            _ => {}
        }
    }
    (state.expect("the turn finishes"), events)
}

/// What was said, and which nodes were entered.
fn event_texts(events: &[ConversationEvent]) -> Vec<String> {
    let heard = events.iter().filter_map(|event| match event {
        ConversationEvent::Entered { node } => Some(format!("at {node}")),
        ConversationEvent::Say { text } => Some(format!("say {text}")),
        ConversationEvent::Answer { text } => Some(text.clone()),
        ConversationEvent::Action { kind, .. } => Some(format!("action {kind}")),
        ConversationEvent::Ended => Some("ended".into()),
        _ => None,
    });
    heard.collect()
}
