use petalflow::prelude::*;

#[state(volatile)]
struct Trip {
    #[key(append, inbox)]
    wishes: Vec<String>,
}

fn main() {}
