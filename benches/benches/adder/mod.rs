//! An agent with one typed tool, and conversations with it.

use petalflow::tool;
use petalflow::tool::ToolCall;
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput};
use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse, Part, Role, ScriptedModel};
use serde_json::json;
use tokio::runtime::Runtime;

/// Calls a tool after a message of the user, and answers after the result of the tool.
pub(crate) fn model() -> ScriptedModel {
    let reply = |request: &LlmRequest| match request.messages.last().map(|last| last.role) {
        Some(Role::Tool) => LlmResponse::text_only("3"),
        _ => LlmResponse {
            message: Some(ChatMessage::new(
                Role::Assistant,
                vec![Part::Call(ToolCall {
                    name: "sum".into(),
                    arguments: json!({"a": 1, "b": 2}),
                    ..ToolCall::default()
                })],
            )),
            ..LlmResponse::default()
        },
    };
    ScriptedModel::from_fn(reply).without_recording()
}

/// Adds two numbers.
#[tool]
pub(crate) fn sum(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a + b
}

/// An agent that has the tool.
pub(crate) fn agent() -> Agent {
    Agent::new(model())
        .name("adder")
        .instructions("Add what you are given.")
        .tool(sum {})
}

/// A conversation with this number of messages.
pub(crate) fn conversation(runtime: &Runtime, agent: &Agent, messages: usize) -> Conversation {
    let events = (0..messages).map(|place| {
        let text = format!("message {place} of a conversation that has gone on for a while");
        let event = if place % 2 == 0 {
            AgentEvent::new(AgentEvent::USER, ChatMessage::user(text))
        } else {
            AgentEvent::new("adder", ChatMessage::assistant(text))
        };
        AgentEvent {
            id: format!("{place}"),
            ..event
        }
    });
    let input = ConversationInput {
        events: events.collect(),
        ..ConversationInput::from("1 + 2?")
    };
    runtime.block_on(agent.run(input)).expect("it answers")
}
