//! A key of an enum. An enum has no fields.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, key = id)]
enum ReviewDraft {
    Once { id: u64 },
}

fn main() {}
