use petalflow::prelude::*;

#[state]
struct Order {
    #[key(untracked, indexed)]
    scratch: String,
    #[key(ephemeral, indexed)]
    hint: String,
}

fn main() {}
