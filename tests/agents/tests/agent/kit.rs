//! What the tests of agents share.

use futures_util::StreamExt as _;
use petalflow::agent::{Agent, AgentEvent, AgentEvents, Conversation, ConversationInput, What};
use petalflow::llm::{ChatMessage, Part, Role};
use petalflow::tool::{ToolCall, ToolResult};
use serde_json::Value;

/// What a run says, without its pieces, and what it comes to.
pub(super) async fn events(
    agent: &Agent,
    input: impl Into<ConversationInput>,
) -> (Vec<AgentEvent>, Conversation) {
    let (_, events, talk) = all(agent.events(input)).await;
    (events, talk)
}

/// The pieces, the events, and the end.
pub(super) async fn all(
    mut stream: AgentEvents,
) -> (Vec<AgentEvent>, Vec<AgentEvent>, Conversation) {
    let (mut pieces, mut events) = (Vec::new(), Vec::new());
    while let Some(progress) = stream.next().await {
        match progress.what {
            What::Piece(piece) => pieces.push(piece),
            What::Event(event) => events.push(event),
            What::Finished(talk) => return (pieces, events, *talk),
            What::Failed(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
            _ => {}
        }
    }
    panic!("the stream ended without an end");
}

/// What each event is: its calls, results or words.
pub(super) fn shape(events: &[AgentEvent]) -> Vec<String> {
    events.iter().map(one).collect()
}

fn one(event: &AgentEvent) -> String {
    let parts = event.message.iter().flat_map(|message| &message.parts);
    let parts: Vec<String> = parts
        .map(|part| match part {
            Part::Text(text) => text.text.clone(),
            Part::Thought(text) => format!("({})", text.text),
            Part::Call(call) => format!("{}{}", call.name, call.arguments),
            Part::Result(result) => format!("{} = {}", result.name, result.content),
            other => format!("{other:?}"),
        })
        .collect();
    parts.join(" & ")
}

/// A call with an id.
pub(super) fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
        signature: None,
    }
}

pub(super) fn called(author: &str, calls: impl IntoIterator<Item = ToolCall>) -> AgentEvent {
    let parts = calls.into_iter().map(Part::Call).collect();
    AgentEvent::new(author, ChatMessage::new(Role::Assistant, parts))
}

pub(super) fn returned(author: &str, id: &str, name: &str, content: Value) -> AgentEvent {
    let result = ToolResult {
        call_id: id.into(),
        name: name.into(),
        content,
        is_error: false,
    };
    AgentEvent::new(author, ChatMessage::results([result]))
}

/// The results of the tools in a conversation, in order.
pub(super) fn results(talk: &Conversation) -> Vec<Value> {
    let messages = talk.events.iter().flat_map(|event| &event.message);
    let results = messages.flat_map(ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}
