//! `run` of a flow is a function of its type.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.to_owned())
}

flow!(WriteEssay(Essay) { write });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    WriteEssay.run("petals".to_owned()).await?;
    Ok(())
}
