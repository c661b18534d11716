//! A key whose type contains a `Cell`: one error at the key, and none at the nodes, the flow and the run.
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};
use std::cell::Cell;

#[derive(Clone, Serialize, Deserialize)]
struct Source {
    reads: Cell<u32>,
}

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append)]
    sources: Vec<Source>,
}

#[node(Essay)]
async fn find(topic: &str) -> EssaySources {
    let reads = Cell::new(u32::from(topic.is_empty()));
    EssaySources(vec![Source { reads }])
}

#[node(Essay)]
async fn list(sources: &[Source], essay: &Essay, cx: Context) {
    println!("{} {} {}", sources.len(), essay.topic, cx.node());
}

#[node(Essay, spawn)]
async fn count(sources: &[Source]) {
    println!("{}", sources.len());
}

flow! {
    Write(Essay) {
        find -> list -> count;
        interrupt after find if |sources: &[Source]| sources.is_empty();
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = Write::run("petals".to_string()).await?;
    println!("{}", essay.sources.len());
    Ok(())
}
