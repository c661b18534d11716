use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict {}

fn main() {}
