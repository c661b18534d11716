//! A question by reference.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}
use petalflow::interrupt::Ask;

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MayPublish {
    draft: String,
}

#[node(Essay)]
async fn review(draft: &str, cx: Context) -> petalflow::Result<EssayDraft> {
    cx.ask(&MayPublish { draft: draft.into() }).await?;
    Ok(EssayDraft(draft.into()))
}

fn main() {}
