//! A question that cannot be stored.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Ask)]
#[ask(answer = Review)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
