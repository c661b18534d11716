use petalflow::prelude::*;

#[tool]
struct Search;

fn main() {}
