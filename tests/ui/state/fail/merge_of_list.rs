use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(merge)]
    pub notes: Vec<String>,
}

fn main() {}
