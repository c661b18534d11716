//! A reducer with the name that another library uses.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(add)]
    rounds: u32,
}

fn main() {}
