//! A generic question.

use petalflow::interrupt::Ask;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
enum Review {
    Approve,
    Reject(String),
}

#[derive(Serialize, Ask)]
#[ask(answer = Review)]
struct ReviewDraft<T>
where
    T: Copy,
{
    draft: T,
}

fn main() {}
