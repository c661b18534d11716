//! The attribute without its parentheses.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask]
struct ReviewDraft {
    id: u64,
    draft: String,
}

fn main() {}
