//! An agent for research: `TAVILY_API_KEY=… cargo run --bin port_research -- "Compare tulips and roses."`
//!
//! The thread of each question is in `research.db`: a question that was interrupted is continued. It needs a model: see [`model`].

use std::sync::Arc;

use petalflow_port_examples::model;
use petalflow_port_examples::research::{Tavily, research, today};
use petalflow_sqlite::SqliteStore;

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let question = std::env::args()
        .nth(1)
        .ok_or("usage: port_research QUESTION")?;
    let key = std::env::var("TAVILY_API_KEY")
        .map_err(|_| "the variable TAVILY_API_KEY is not set: it is the key of the search")?;
    let tavily = match std::env::var("TAVILY_BASE_URL") {
        Ok(address) => Tavily::at(address, key)?,
        Err(_) => Tavily::new(key)?,
    };
    let store = SqliteStore::open("research.db").await?;
    let model = model::from_environment()?;
    let found = research(
        model,
        Arc::new(tavily),
        &store,
        &question,
        &question,
        &today(),
    )
    .await?;
    println!("{}\n\n{}", found.plan, found.answer);
    if let Some(report) = found.report {
        println!("\n{report}");
    }
    Ok(())
}
