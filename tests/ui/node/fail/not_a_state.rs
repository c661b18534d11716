//! Nodes over a type that is not a state, in a flow: one error.

use petalflow::prelude::*;

#[node(String)]
async fn write() {}

#[node(String)]
async fn check() -> bool {
    true
}

flow! {
    WriteText(String) {
        START -> write -> check -> match { true => write, false => END };
    }
}

fn main() {}
