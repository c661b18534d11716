//! An `out` of a sub-flow that takes a reference.

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

flow! {
    WriteEssay(Essay) {
        START -> review;
        node review: CheckText {
            in: |draft: &str| draft.to_string(),
            out: |r: &Review| EssayNotes(vec![r.remarks.clone()]),
        };
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
