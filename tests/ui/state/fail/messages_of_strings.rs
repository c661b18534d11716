use petalflow::prelude::*;

#[state]
pub struct Chat {
    #[key(messages)]
    pub messages: Vec<String>,
}

fn main() {}
