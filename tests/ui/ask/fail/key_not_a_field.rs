//! A key that is not a name.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, key = "draft")]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
