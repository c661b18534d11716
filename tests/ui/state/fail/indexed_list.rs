use petalflow::prelude::*;

#[state]
struct Order {
    #[key(append, indexed)]
    items: Vec<String>,
}

fn main() {}
