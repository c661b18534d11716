//! `keep` in `with`. It belongs to the declaration of the sub-flow.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[state]
struct Review {
    #[key(input)]
    text: String,
    #[key(append)]
    remarks: Vec<String>,
}

#[node(Review)]
async fn read(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![text.into()])
}

flow!(ReviewEssay(Review) { read });

flow! {
    WriteEssay(Essay) {
        node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
        with review { keep: thread };
        START -> review;
    }
}

fn main() {}
