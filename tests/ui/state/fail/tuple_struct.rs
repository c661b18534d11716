use petalflow::prelude::*;

#[state]
pub struct Essay(#[key(input)] String, u32);

#[node(Essay)]
fn write() {}

fn main() {}
