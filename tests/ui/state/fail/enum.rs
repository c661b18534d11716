use petalflow::prelude::*;

#[state]
pub enum Essay {
    Draft(String),
    Text { #[key(input)] text: String },
}

#[node(Essay)]
fn write() {}

fn main() {}
