//! An agent over a model that follows a script, so that it needs no key. It asks a person before it lends a book.

use petalflow::tool;
use petalflow::tool::ToolCall;
use petalflow_agent::Agent;
use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse, Part, Reply, Role, ScriptedModel};
use serde_json::json;

/// Lends a book to the user.
#[tool(confirm)]
async fn lend(
    /// The title of the book.
    title: String,
) -> String {
    format!("`{title}` is lent for four weeks")
}

/// The agent.
pub(crate) fn agent() -> Agent {
    Agent::new(ScriptedModel::from_fn(reply))
        .name("librarian")
        .instructions("You lend books.")
        .tool(lend {})
        .streaming()
}

/// Calls the tool if the user wants a book, and tells what the tool has said.
fn reply(request: &LlmRequest) -> Reply {
    let last = request.messages.last();
    let said = last.map(ChatMessage::text).unwrap_or_default();
    match last.map(|message| message.role) {
        Some(Role::Tool) => Reply::chunks(["It is ", "done: ", "look at ", "the result above."]),
        _ if said.contains("book") => Reply::from(LlmResponse {
            message: Some(ChatMessage::new(
                Role::Assistant,
                vec![Part::Call(ToolCall {
                    name: "lend".into(),
                    arguments: json!({ "title": "The Secret Garden" }),
                    ..ToolCall::default()
                })],
            )),
            ..LlmResponse::default()
        }),
        _ => Reply::chunks(["Hello! ", "Ask me ", "for a ", "book."]),
    }
}
