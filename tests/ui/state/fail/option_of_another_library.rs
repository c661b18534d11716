//! A reducer by the name that another library has for it.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(add)]
    rounds: u32,
}

fn main() {}
