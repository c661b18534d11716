//! What the tests of all protocols serve: an agent that waits for people and returns pictures, and a conversation of a document.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::tool::{CredentialRequest, FuncTool, ToolContext};
use petalflow_agent::Agent;
use petalflow_conversations::ConversationFlow;
use petalflow_conversations::document::Conversation;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{LlmRequest, Part, Reply, Role, ScriptedModel};
use petalflow_server::{ServedFlow, Server, ServerBuilder};
use serde_json::{Value, json};

/// A picture.
pub(crate) const DOT: &str = "R0lGODlhAQABAAAAACw=";

/// A question of a tool.
#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
pub(crate) struct MayOrder {
    title: String,
}

/// An agent with a tool that needs a credential, and one that asks a question.
pub(crate) fn asking_agent() -> (Agent, ScriptedModel) {
    let model = ScriptedModel::from_fn(answer);
    let calendar = FuncTool::with_context(
        "calendar",
        "Reads a calendar.",
        |_: Value, cx: ToolContext| async move {
            match cx.credential() {
                Some(Value::String(token)) => Ok(format!("{token} is free")),
                Some(_) => Ok("there is no credential".into()),
                None => {
                    let address = "https://accounts.example/authorize";
                    let request = CredentialRequest::oauth2("calendar", address);
                    cx.request_credential(request.with_hint("Sign in to the calendar."));
                    Err("waits for the credential".into())
                }
            }
        },
    );
    let order = FuncTool::with_context(
        "order",
        "Orders a book.",
        |_: Value, cx: ToolContext| async move {
            let cx = cx.context().ok_or("only within a run")?;
            let title = "Emma".to_string();
            cx.ask(MayOrder { title }).await
        },
    );
    let agent = Agent::new(model.clone()).tool(calendar).tool(order);
    (agent, model)
}

fn answer(request: &LlmRequest) -> Reply {
    let last = request.messages.last().expect("there is a message");
    if last.role == Role::Tool {
        let results = last.tool_results().map(|result| result.content.to_string());
        return Reply::text(format!(
            "I got {}.",
            results.collect::<Vec<_>>().join(" and ")
        ));
    }
    let media = last.parts.iter().find_map(|part| match part {
        Part::Media(media) => Some(media.clone()),
        _ => None,
    });
    match (media, &*last.text()) {
        (Some(media), _) => Reply::text("The same:").and(Part::Media(media)),
        (None, tool @ ("calendar" | "order")) => Reply::call(tool, json!({})),
        (None, text) => Reply::text(format!("You said {text}.")),
    }
}

/// A server of the agent, with the name `guide` and without a token.
pub(crate) fn builder(agent: &Agent) -> ServerBuilder {
    let flow = ServedFlow::agent(agent).named("guide");
    Server::builder(&InMemoryStore::new())
        .serve_flow(flow.question::<MayOrder>())
        .threads(TriggerAuth::None)
}

/// A server of a conversation of a document, with the name `guide` and without a token. Its model gives these answers.
pub(crate) fn conversation<const N: usize>(answers: [&str; N]) -> ServerBuilder {
    let document = json!({ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } });
    let document = serde_json::from_value(document).expect("it is one");
    let document = Conversation::from_config(&document).expect("it is right");
    let model = ScriptedModel::new(answers);
    let builder = ConversationFlow::builder(document).model(model).streaming();
    let flow = builder.build().expect("it is right");
    Server::builder(&InMemoryStore::new())
        .conversation("guide", &flow)
        .threads(TriggerAuth::None)
}
