use petalflow::prelude::*;

#[derive(Route)]
#[route(krate = petalflow)]
pub enum Verdict {
    Revise,
    Publish,
}

fn main() {}
