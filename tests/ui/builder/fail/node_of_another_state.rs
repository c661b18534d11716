//! A node over another state.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[state]
pub struct Memo {
    #[key(input)]
    pub text: String,
}

#[node(Memo)]
async fn title(text: &str) {
    println!("{text}");
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let graph = Graph::<Essay>::builder("essay").node(title {}).edge(START, "title").build()?;
    let essay = graph.run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
