use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(id)]
    pub draft: String,
}

fn main() {}
