use petalflow::prelude::*;

#[derive(Route)]
pub union Verdict {
    a: u32,
}

fn main() {}
