//! A sub-flow that is not a flow.

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

struct Stamp(u32);

#[node(Essay)]
impl Stamp {
    fn stamp(&self) -> EssayNotes {
        EssayNotes(vec![self.0.to_string()])
    }
}

flow! {
    WriteEssay(Essay) {
        node review: Stamp { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
        START -> review;
    }
}

fn main() {}
