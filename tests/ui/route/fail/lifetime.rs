use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict<'a> {
    Revise(&'a str),
    Publish,
}

fn main() {}
