use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input, append, input)]
    pub topic: String,
}

fn main() {}
