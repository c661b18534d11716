use petalflow::prelude::*;

#[state(version = 1, migrate = migrate)]
pub struct Essay {
    pub draft: String,
}

fn main() {}
