use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(inptu)]
    pub topic: String,
    #[key(sum)]
    pub draft: String,
    #[key(append, append)]
    pub notes: Vec<String>,
}

fn main() {}
