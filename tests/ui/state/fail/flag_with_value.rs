use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(append = true)]
    pub notes: Vec<String>,
}

fn main() {}
