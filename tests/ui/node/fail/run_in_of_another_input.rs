//! A flow that runs inside a node, with an input of another type.

use petalflow::prelude::*;

#[state]
pub struct Review {
    #[key(input)]
    pub text: String,
    pub remarks: String,
}

#[node(Review)]
async fn look(text: &str) -> ReviewRemarks {
    ReviewRemarks(text.into())
}

flow!(pub CheckText(Review) { look });

#[state]
pub struct Essay {
    #[key(input)]
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[node(Essay)]
async fn check(draft: &str, cx: Context) -> petalflow::Result<EssayNotes> {
    let review = CheckText::new().run_in(&cx, "check", draft.len()).await?;
    Ok(EssayNotes(vec![review.remarks]))
}

flow!(WriteEssay(Essay) { check });

fn main() {}
