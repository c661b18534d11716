use petalflow::prelude::*;

#[state(volatil)]
pub struct Essay {
    pub draft: String,
}

fn main() {}
