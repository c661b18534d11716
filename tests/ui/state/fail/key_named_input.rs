use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub input: String,
}

#[node(Essay)]
fn write(input: &str) {
    let _ = input;
}

fn main() {}
