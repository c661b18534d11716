//! A string literal as an input of type `String`.

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

flow! {
    WriteEssay(Essay) {
        START -> write;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals").await?;
    println!("{}", essay.draft);
    Ok(())
}
