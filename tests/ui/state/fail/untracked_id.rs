use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(untracked, id = "d")]
    pub draft: String,
}

fn main() {}
