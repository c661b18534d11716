use petalflow::prelude::*;

#[state]
pub union Essay {
    draft: u32,
}

fn main() {}
