use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(ephemeral, output)]
    pub draft: String,
}

fn main() {}
