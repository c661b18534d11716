use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict {
    Revise(String, u32),
    Publish,
}

fn main() {}
