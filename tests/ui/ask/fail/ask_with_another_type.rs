//! A question whose type is named for the answer.
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
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

#[node(Essay)]
async fn approve(draft: &str, cx: Context) -> petalflow::Result<EssayNotes> {
    let ok = cx.ask(format!("is {draft} good?")).await?;
    Ok(EssayNotes(vec![ok]))
}

fn main() {}
