use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict {
    Revise(),
    Publish,
}

fn main() {}
