//! The agent: its tools, its instructions and its model.

use std::sync::Arc;

use petalflow::prelude::*;
use petalflow_agent::Agent;
use petalflow_llm::{LlmClient, ProviderModel, Reply, Role, ScriptedModel};
use serde_json::json;

/// Finds an order. The model reads this text, and the texts of the parameters.
#[tool]
pub async fn find_order(
    /// The number of the order, such as `A-17`.
    number: String,
) -> petalflow::Result<String> {
    match number.as_str() {
        "A-17" => Ok("a lamp for 40 euros".into()),
        _ => Err(format!("there is no order `{number}`").into()),
    }
}

/// Pays an order back. `confirm`: it runs after a person has agreed.
#[tool(confirm)]
pub async fn pay_back(
    /// The number of the order.
    number: String,
) -> String {
    format!("order {number} is paid back")
}

/// The agent with a model.
pub fn agent(model: Arc<dyn LlmClient>) -> Agent {
    Agent::new(model)
        .instructions("You help customers of a shop. Look up an order before you pay it back.")
        .tool(find_order {})
        .tool(pay_back {})
}

/// A real model if the environment has a key, and the script otherwise.
pub fn model() -> petalflow::Result<Arc<dyn LlmClient>> {
    let models = [
        ("OPENAI_API_KEY", "gpt-5-mini"),
        ("ANTHROPIC_API_KEY", "claude-sonnet-4-6"),
    ];
    for (key, name) in models {
        if std::env::var_os(key).is_some() {
            return Ok(Arc::new(ProviderModel::new(name)?));
        }
    }
    Ok(script())
}

/// Takes the part of a model: it looks up the order A-17, wants to pay it back, and repeats its result.
pub fn script() -> Arc<dyn LlmClient> {
    Arc::new(ScriptedModel::from_fn(|request| {
        let messages = request.messages.iter().rev();
        let since_user = messages.take_while(|message| message.role != Role::User);
        let order = json!({ "number": "A-17" });
        match since_user.count() {
            0 => Reply::call("find_order", order),
            2 => Reply::call("pay_back", order),
            _ => {
                let last = request.messages.last();
                let result = last.and_then(|message| message.tool_results().next());
                let text = result.map(|result| match result.content.as_str() {
                    Some(text) => text.to_owned(),
                    None => result.content.to_string(),
                });
                Reply::text(text.unwrap_or_default())
            }
        }
    }))
}
