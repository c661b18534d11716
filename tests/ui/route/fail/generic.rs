use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict<T> {
    Revise(T),
    Publish,
}

fn main() {}
