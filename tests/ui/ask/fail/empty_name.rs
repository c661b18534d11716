//! A name without a letter.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, name = "")]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
