use petalflow::prelude::*;

pub struct Topic(String);

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: Topi,
    #[key(append)]
    pub notes: Vec<Topic2>,
}

fn main() {}
