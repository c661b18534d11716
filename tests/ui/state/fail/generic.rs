use petalflow::prelude::*;

#[state]
pub struct Essay<T> {
    pub draft: T,
}

fn main() {}
