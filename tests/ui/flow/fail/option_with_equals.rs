//! An option of `with`, written as in an attribute.

use petalflow::prelude::*;

#[state]
struct Essay {}

#[node(Essay)]
async fn write() {}

flow! {
    WriteEssay(Essay) {
        START -> write;
        with write { retry = 3 };
    }
}

fn main() {}
