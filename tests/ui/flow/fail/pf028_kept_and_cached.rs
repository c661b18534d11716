//! A sub-flow that keeps its state and whose results are cached.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topics: Vec<String>,
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
        node review: ReviewEssay {
            in: |topics: &[String]| topics.concat(),
            out: |r: Review| EssayNotes(r.remarks),
            keep: thread,
        };
        START -> review;
        with review { cache: 1h };
    }
}

fn main() {}
