use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub draft_1: String,
    pub draft1: String,
}

fn main() {}
