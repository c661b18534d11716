//! A flow declared like a struct.

use petalflow::prelude::*;

#[state]
struct Essay {}

#[node(Essay)]
async fn write() {}

flow! {
    pub struct WriteEssay(Essay) {
        START -> write;
    }
}

fn main() {}
