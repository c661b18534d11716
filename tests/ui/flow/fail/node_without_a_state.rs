//! Nodes that do not say their state, where a flow uses them: a mistake each.

use petalflow::prelude::*;

#[state]
struct Essay {}

#[node]
async fn write() {}

#[node(state = Essay)]
async fn polish() {}

flow!(WriteEssay(Essay) { START -> write -> polish });

fn main() {}
