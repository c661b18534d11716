use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input, ephemeral)]
    pub topic: String,
}

fn main() {}
