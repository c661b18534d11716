//! An agent that pays money back after a person has agreed, perhaps days later and in another process.

use petalflow::prelude::*;
use petalflow_agent::{Agent, ConversationInput};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde_json::json;

/// Pays an order back.
#[tool(confirm)]
async fn pay_back(order: String) -> String {
    format!("{order} is paid back")
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    // A script needs no key. A real model: `ProviderModel::new("gpt-5-mini")?`.
    let model = ScriptedModel::from_fn(|request| match request.messages.len() {
        1 => Reply::call("pay_back", json!({ "order": "A-17" })),
        _ => "I have paid A-17 back.".into(),
    });
    let store = SqliteStore::open("support.db").await?;
    let agent = Agent::new(model).tool(pay_back {});
    let chat = agent.store(&store).thread("ann");
    let now = chat.snapshot().await?;
    let input = match now.and_then(|now| now.state.pending().pop()) {
        None => "My lamp arrived broken. The order is A-17.".into(),
        // In another process, days later: a person has agreed.
        Some(call) => ConversationInput::default().confirm(call.id(), true),
    };
    println!("{}", chat.run(input).await?.into_finished()?);
    Ok(())
}
