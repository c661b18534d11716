use petalflow::prelude::*;

#[state]
pub struct Essay<'a> {
    pub draft: &'a str,
}

fn main() {}
