//! An answer that cannot be stored.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Verdict)]
struct ReviewDraft {
    id: u64,
    draft: String,
}

enum Verdict {
    Approve,
}

fn main() {}
