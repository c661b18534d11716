use petalflow::prelude::*;

#[state]
struct Order {
    #[key(append, inbox, receive)]
    payments: Vec<u32>,
    #[key(untracked, receive)]
    notes: String,
    #[key(receive)]
    cancelled: String,
}

fn main() {}
