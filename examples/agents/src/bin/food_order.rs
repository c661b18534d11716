//! An order by a document of Pipecat's editor: `cargo run --bin food_order`.
//!
//! The document says what the model does at each node, and which functions there are. The program has the code of two of
//! them. Without a key, a script stands for the model.

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::tool::ToolContext;
use petalflow_agent_examples::{Newest, choose, newest, phone};
use petalflow_conversation::{BuildErrors, ConversationFlow};
use petalflow_conversation_document::{Diagnostics, Source, check};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Reply, Role, ScriptedModel};
use serde_json::json;

const DOCUMENT: &str = include_str!("../../conversations/food_order.json");

/// Records the soup. The document describes it to the model.
#[tool]
fn order_soup(kind: String, bowls: u32, cx: ToolContext) {
    cx.set_state(
        "order",
        json!({ "text": format!("{bowls} x {kind} soup"), "price": bowls * 6 }),
    );
}

/// Records the salad.
#[tool]
fn order_salad(size: String, cx: ToolContext) {
    let price = if size == "large" { 11 } else { 7 };
    cx.set_state(
        "order",
        json!({ "text": format!("a {size} salad"), "price": price }),
    );
}

fn flow(model: impl LlmClient) -> Result<ConversationFlow, Box<dyn std::error::Error>> {
    let checked =
        check(&Source::new("food_order.json", DOCUMENT)).map_err(Box::<Diagnostics>::new)?;
    let flow = ConversationFlow::builder(checked.conversation).model(model);
    let flow = flow.tools(tools![order_soup, order_salad]).build();
    Ok(flow.map_err(Box::<BuildErrors>::new)?)
}

/// Understands a few words.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let said = match newest(request) {
            Newest::User(text) if ends_with_user(request) => text.to_lowercase(),
            _ => String::new(),
        };
        let count = said
            .split_whitespace()
            .find_map(|word| word.parse::<u32>().ok());
        if offers("choose_soup") && said.contains("soup") {
            Reply::call("choose_soup", json!({}))
        } else if offers("choose_salad") && said.contains("salad") {
            Reply::call("choose_salad", json!({}))
        } else if let Some(bowls) = count.filter(|_| offers("order_soup")) {
            let kind = if said.contains("lentil") {
                "lentil"
            } else {
                "tomato"
            };
            Reply::call("order_soup", json!({ "kind": kind, "bowls": bowls }))
        } else if offers("order_salad") && (said.contains("small") || said.contains("large")) {
            let size = if said.contains("small") {
                "small"
            } else {
                "large"
            };
            Reply::call("order_salad", json!({ "size": size }))
        } else if offers("accept") && said.contains("yes") {
            Reply::call("accept", json!({}))
        } else if offers("start_again") && said.contains("no") {
            Reply::call("start_again", json!({}))
        } else {
            task(request).into()
        }
    })
}

/// Whether the person has just spoken.
fn ends_with_user(request: &LlmRequest) -> bool {
    request
        .messages
        .last()
        .is_some_and(|it| it.role == Role::User)
}

/// The task of the node, which the script reads aloud.
fn task(request: &LlmRequest) -> String {
    let mut tasks = request.messages.iter().rev();
    let task = tasks.find(|it| it.role == Role::System);
    format!("({})", task.map(ChatMessage::text).unwrap_or_default())
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let choice = choose(script())?;
    println!("{}", choice.description);
    let flow = flow(choice.model).map_err(|error| error.to_string())?;
    let thread = flow.store(&InMemoryStore::new()).thread("order");
    phone::talk(&thread, std::io::stdin().lock(), std::io::stdout()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_order_of_two_bowls() {
        let mut screen = Vec::new();
        let thread = flow(script())
            .unwrap()
            .store(&InMemoryStore::new())
            .thread("order");
        let lines = "soup please\n2 lentil\nno\nsalad\nlarge\nyes\n";
        phone::talk(&thread, lines.as_bytes(), &mut screen)
            .await
            .unwrap();
        let said = String::from_utf8(screen).unwrap();
        assert!(
            said.contains("Read back the order, 2 x lentil soup for 12 dollars"),
            "{said}"
        );
        assert!(
            said.contains("Read back the order, a large salad for 11 dollars"),
            "{said}"
        );
        assert!(
            said.ends_with("[end]\n(Thank the guest and say goodbye.)\n"),
            "{said}"
        );
    }

    #[test]
    fn the_document_has_no_warnings() {
        let checked = check(&Source::new("food_order.json", DOCUMENT)).unwrap();
        assert!(checked.warnings.is_empty(), "{}", checked.warnings);
        let value: serde_json::Value = serde_json::from_str(DOCUMENT).unwrap();
        let petalflow_conversation_document::Document::Editor(document) = checked.document else {
            panic!("the editor's form");
        };
        assert_eq!(serde_json::to_value(document).unwrap(), value);
    }
}
