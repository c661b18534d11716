use petalflow::prelude::*;

#[state(volatile)]
struct Order {
    #[key(indexed)]
    amount: u32,
}

fn main() {}
