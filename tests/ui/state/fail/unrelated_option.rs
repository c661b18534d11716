use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(hidden)]
    pub topic: String,
}

fn main() {}
