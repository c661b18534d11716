//! A misspelt option.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review, nam = "review")]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
