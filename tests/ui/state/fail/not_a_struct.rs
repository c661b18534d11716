use petalflow::prelude::*;

#[state]
fn essay() {}

fn main() {}
