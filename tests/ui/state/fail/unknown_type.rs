use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: Strin,
    #[key(append)]
    pub notes: Vec<Strin2>,
}

fn main() {}
