//! What follows from a generic state is not reported, whether its arguments are written or not.
use petalflow::prelude::*;

#[state]
pub struct Essay<T: Clone> {
    #[key(input)]
    pub topic: T,
    pub draft: String,
}

#[node(Essay<String>)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.to_string())
}

#[node(Essay)]
async fn polish(draft: &str) -> petalflow::Result<EssayDraft> {
    Ok(EssayDraft(draft.to_string()))
}

flow!(WriteEssay(Essay<String>) { write });
flow!(PolishEssay(Essay) { polish });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    WriteEssay::run("petals".to_string()).await?;
    Ok(())
}
