//! An effect of `once` that is not a `Result`.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

async fn pay(topic: &str) -> String {
    topic.into()
}

#[node(Essay)]
async fn write(topic: &str, cx: Context) -> petalflow::Result<EssayDraft> {
    let receipt = cx.once("pay", pay(topic)).await?;
    Ok(EssayDraft(receipt))
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
