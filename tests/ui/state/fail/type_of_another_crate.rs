//! A key of a type of another crate that cannot be stored.

use std::time::Instant;

use petalflow::prelude::*;

#[state]
struct Essay {
    begun: Instant,
}

fn main() {}
