use petalflow::prelude::*;

#[state]
struct Order {
    #[key(input, secret, indexed)]
    card: String,
}

fn main() {}
