use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(append, sum)]
    pub notes: Vec<String>,
}

fn main() {}
