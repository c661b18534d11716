use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict {
    Revise { hint: String },
    Publish,
}

fn main() {}
