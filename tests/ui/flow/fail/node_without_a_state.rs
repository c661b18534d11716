//! Nodes without a state in a flow: one error each.

use petalflow::prelude::*;

#[state]
struct Essay {}

#[node]
async fn write() {}

#[node(state = Essay)]
async fn polish() {}

flow!(WriteEssay(Essay) { START -> write -> polish });

fn main() {}
