use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(reduce = "append")]
    pub notes: Vec<String>,
}

fn main() {}
