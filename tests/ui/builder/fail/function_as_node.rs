//! The function instead of the node.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let graph = Graph::<Essay>::builder("essay").node(write).edge(START, "write").build()?;
    let essay = graph.run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
