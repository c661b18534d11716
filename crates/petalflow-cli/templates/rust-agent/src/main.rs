//! `cargo run -- TEXT` says something to the agent. `cargo run -- yes` and `no` decide about a call that waits.

use petalflow_agent::{Conversation, ConversationInput};
use petalflow_sqlite::SqliteStore;

use {{crate_name}}::{agent, model};

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let text = words.join(" ");
    let store = SqliteStore::open("agent.db").await?;
    let agent = agent(model()?);
    let chat = agent.store(&store).thread("chat");
    let stored = chat.snapshot().await?;
    let pending = stored.map_or_else(Vec::new, |stored| stored.state.pending());
    let input = match (pending.first(), text.as_str()) {
        (Some(call), "yes") => ConversationInput::default().confirm(call.id(), true),
        (Some(call), "no") => ConversationInput::default().confirm(call.id(), false),
        (Some(call), _) => {
            println!("The agent {call}");
            println!("{HOW_TO_DECIDE}");
            return Ok(());
        }
        (None, "" | "yes" | "no") => {
            println!("Nothing waits for a decision. Say something: {EXAMPLE}");
            return Ok(());
        }
        (None, text) => text.into(),
    };
    show(&chat.run(input).await?.into_finished()?);
    Ok(())
}

const HOW_TO_DECIDE: &str = "Decide with `cargo run -- yes` or `cargo run -- no`.";
const EXAMPLE: &str = "cargo run -- \"My lamp arrived broken. The order is A-17.\"";

fn show(conversation: &Conversation) {
    println!("{conversation}");
    if !conversation.pending().is_empty() {
        println!("{HOW_TO_DECIDE}");
    }
}
