//! A key that has no text.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, key = draft)]
struct ReviewDraft {
    draft: Vec<String>,
}

fn main() {}
