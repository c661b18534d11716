//! A public node with a private route: the route is part of the node's interface.

use petalflow::prelude::*;

#[state]
pub struct Essay {}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

pub struct Critic;

#[node(Essay)]
impl Critic {
    async fn judge(&self) -> Verdict {
        if true { Verdict::Publish } else { Verdict::Revise }
    }
}

fn main() {}
