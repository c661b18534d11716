use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub draft: String,
    #[key(id = "draft")]
    pub text: String,
}

fn main() {}
