use petalflow::prelude::*;

#[state]
pub struct Essay;

#[node(Essay)]
fn write() {}

fn main() {}
