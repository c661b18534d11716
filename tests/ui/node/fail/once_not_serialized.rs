//! A result of `once` that cannot be stored.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

pub struct Receipt(String);

async fn pay(topic: &str) -> petalflow::Result<Receipt> {
    Ok(Receipt(topic.into()))
}

#[node(Essay)]
async fn write(topic: &str, cx: Context) -> petalflow::Result<EssayDraft> {
    let receipt = cx.once("pay", pay(topic)).await?;
    Ok(EssayDraft(receipt.0))
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
