//! An effect that cannot fail.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn pay(cx: Context) -> petalflow::Result<EssayDraft> {
    let receipt: u32 = cx.once("pay", async { 1 }).await?;
    Ok(EssayDraft(receipt.to_string()))
}

fn main() {}
