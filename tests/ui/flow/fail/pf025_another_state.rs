//! A node over another state.

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
        START -> write -> read;
        node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
        write -> review;
    }
}

fn main() {}
