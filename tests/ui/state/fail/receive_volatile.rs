use petalflow::prelude::*;

#[state(volatile)]
struct Order {
    #[key(receive)]
    payment: u32,
}

fn main() {}
