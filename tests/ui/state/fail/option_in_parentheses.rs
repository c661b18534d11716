//! The value of an option comes after an equals sign.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(default(3))]
    rounds: u32,
    #[key(append())]
    notes: Vec<String>,
    #[key("sum")]
    words: u32,
    #[key(id "w")]
    draft: String,
}

fn main() {}
