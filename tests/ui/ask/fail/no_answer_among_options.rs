//! The same beside other options.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(name = "review-draft", expires = 3d, default = Review::Approve)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
