//! A question that expires without an answer.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, expires = 3d)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
