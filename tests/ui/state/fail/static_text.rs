//! A `&'static str` as a key that is stored.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(default)]
    pub name: &'static str,
}

#[node(Essay)]
async fn write(topic: &str, name: &&'static str) -> (EssayDraft, EssayName) {
    (EssayDraft(format!("{topic}{name}")), EssayName("x"))
}

flow! {
    WriteEssay(Essay) {
        START -> write;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
