//! A state that was copied and not renamed. The first error names the mistake.
use petalflow::prelude::*;

#[state]
struct Essay {
    topic: String,
}

#[state]
struct Essay {
    topic: String,
}

fn main() {}
