//! A librarian that looks up books before it answers.

use std::sync::Arc;

use petalflow::prelude::*;
use petalflow_agent::Agent;
use petalflow_llm::{LlmClient, ProviderModel, Reply, ScriptedModel};
use serde_json::json;

/// Finds the shelf of a book.
#[tool]
async fn find_book(
    /// The title, or a part of it.
    title: String,
) -> petalflow::Result<String> {
    let books = [("On Petals", "shelf 7"), ("The Rose", "shelf 2")];
    let found = books.iter().find(|(name, _)| name.contains(&title));
    let (name, shelf) = found.ok_or_else(|| format!("there is no book `{title}`"))?;
    Ok(format!("{name}: {shelf}"))
}

/// A real model if there is a key, and a script otherwise.
fn model() -> petalflow::Result<Arc<dyn LlmClient>> {
    if std::env::var("OPENAI_API_KEY").is_ok() {
        return Ok(Arc::new(ProviderModel::new("gpt-5-mini")?));
    }
    let call = Reply::call("find_book", json!({ "title": "Rose" }));
    let script = [call, "The Rose is on shelf 2.".into()];
    Ok(Arc::new(ScriptedModel::new(script)))
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let librarian = Agent::new(model()?)
        .instructions("You are a librarian. Look up books before you answer.")
        .tool(find_book {});
    let conversation = librarian.run("Where is the book about roses?").await?;
    println!("{conversation}");
    Ok(())
}
