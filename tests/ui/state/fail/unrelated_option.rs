use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(secret)]
    pub topic: String,
}

fn main() {}
