//! A key that is not a field.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, key = ids)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
