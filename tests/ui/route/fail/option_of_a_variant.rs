//! `#[route(..)]` on a variant.
use petalflow::prelude::*;

#[derive(Route)]
enum Verdict {
    #[route(name = "again")]
    Revise,
    Publish,
}

fn main() {}
