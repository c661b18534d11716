//! An answer that cannot be read back, and a node that asks.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(serde::Serialize)]
enum Verdict {
    Approve,
}

#[derive(serde::Serialize, petalflow::interrupt::Ask)]
#[ask(answer = Verdict)]
struct MayPublish {
    draft: String,
}

#[node(Essay)]
async fn review(draft: &str, cx: Context) -> petalflow::Result<EssayDraft> {
    let Verdict::Approve = cx.ask(MayPublish { draft: draft.into() }).await?;
    Ok(EssayDraft(draft.into()))
}

fn main() {}
