use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input, append)]
    pub rounds: u32,
}

fn main() {}
