//! An option of `with` as attributes have it.

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
