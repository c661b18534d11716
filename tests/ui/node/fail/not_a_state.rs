//! Nodes over a type that is no state, which a flow uses: one error.

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
