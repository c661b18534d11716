//! An order by a document of Pipecat's editor: `cargo run --bin food_order`.
//!
//! The document says what the model does at each node, and which functions there are. `conversation!` checks it while the
//! program is compiled, and makes a trait of the two functions that need code. Without a key, a script replaces the
//! model.

use petalflow::Result;
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::ToolContext;
use petalflow_agent_examples::{Newest, choose, newest, phone};
use petalflow_conversations::{ConversationFlow, conversation};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

conversation! { FoodOrder("../../conversations/food_order.json") }

use food_order::{OrderSalad, OrderSaladSize, OrderSoup};

struct Kitchen;

impl food_order::Handlers for Kitchen {
    async fn order_soup(
        &self,
        OrderSoup { kind, bowls }: OrderSoup,
        cx: &ToolContext,
    ) -> Result<Value> {
        let text = format!("{bowls} x {} soup", kind.as_str());
        cx.set_state("order", json!({ "text": text, "price": bowls * 6 }));
        Ok(Value::Null)
    }

    async fn order_salad(
        &self,
        OrderSalad { size }: OrderSalad,
        cx: &ToolContext,
    ) -> Result<Value> {
        let price = match size {
            OrderSaladSize::Small => 7,
            OrderSaladSize::Large => 11,
        };
        let text = format!("a {} salad", size.as_str());
        cx.set_state("order", json!({ "text": text, "price": price }));
        Ok(Value::Null)
    }
}

fn flow(model: impl LlmClient) -> Result<ConversationFlow> {
    Ok(FoodOrder::builder(Kitchen).model(model).build()?)
}

/// Understands a few words.
fn script() -> ScriptedModel {
    ScriptedModel::from_fn(|request: &LlmRequest| {
        let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let message = match newest(request) {
            Newest::User(text) if ends_with_user(request) => text.to_lowercase(),
            _ => String::new(),
        };
        let count = message
            .split_whitespace()
            .find_map(|word| word.parse::<u32>().ok());
        if offers("choose_soup") && message.contains("soup") {
            Reply::call("choose_soup", json!({}))
        } else if offers("choose_salad") && message.contains("salad") {
            Reply::call("choose_salad", json!({}))
        } else if let Some(bowls) = count.filter(|_| offers("order_soup")) {
            let kind = if message.contains("lentil") {
                "lentil"
            } else {
                "tomato"
            };
            Reply::call("order_soup", json!({ "kind": kind, "bowls": bowls }))
        } else if offers("order_salad") && (message.contains("small") || message.contains("large"))
        {
            let size = if message.contains("small") {
                "small"
            } else {
                "large"
            };
            Reply::call("order_salad", json!({ "size": size }))
        } else if offers("accept") && message.contains("yes") {
            Reply::call("accept", json!({}))
        } else if offers("start_again") && message.contains("no") {
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
async fn main() -> Result<()> {
    let choice = choose(script())?;
    println!("{}", choice.description);
    let flow = flow(choice.model)?;
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
        let output = String::from_utf8(screen).unwrap();
        assert!(
            output.contains("Read back the order, 2 x lentil soup for 12 dollars"),
            "{output}"
        );
        assert!(
            output.contains("Read back the order, a large salad for 11 dollars"),
            "{output}"
        );
        assert!(
            output.ends_with("[end]\n(Thank the guest and say goodbye.)\n"),
            "{output}"
        );
    }

    #[test]
    fn the_document_has_no_warnings() {
        assert!(FoodOrder::WARNINGS.is_empty(), "{:?}", FoodOrder::WARNINGS);
    }
}
