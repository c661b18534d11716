use petalflow::prelude::*;

#[state]
struct Trip {
    #[key(inbox)]
    plan: String,
    #[key(append, inbox, untracked)]
    wishes: Vec<String>,
    #[key(sum, inbox)]
    budget: u32,
}

fn main() {}
