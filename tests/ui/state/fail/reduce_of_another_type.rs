use petalflow::prelude::*;

fn longest(current: &mut u32, written: u32) {
    *current = written.max(*current);
}

#[state]
pub struct Essay {
    #[key(reduce = longest)]
    pub draft: String,
}

fn main() {}
