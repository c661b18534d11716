use petalflow::prelude::*;

#[state(version = 2)]
pub struct Essay {
    pub draft: String,
}

fn main() {}
