use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(default = "untitled")]
    pub title: String,
}

fn main() {}
