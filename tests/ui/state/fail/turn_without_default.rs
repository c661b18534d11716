use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input, turn)]
    pub topic: String,
}

fn main() {}
