//! A number without a unit.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, expires = 3, default = Review::Approve)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
