//! A question without an answer, and a node that asks it.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn ask(question: impl Ask) -> String {
    question.key()
}

fn use_it(question: ReviewDraft) -> String {
    ask(question)
}

fn main() {}
