//! A question as a text.
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
async fn review(cx: Context) -> petalflow::Result<EssayDraft> {
    let publish: bool = cx.ask("publish?").await?;
    Ok(EssayDraft(publish.to_string()))
}

fn main() {}
