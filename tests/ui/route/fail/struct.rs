use petalflow::prelude::*;

#[derive(Route)]
pub struct Verdict;

fn main() {}
