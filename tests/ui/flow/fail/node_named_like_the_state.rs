//! A node that has the name of its state, where a flow uses it: one mistake.
#![allow(non_camel_case_types)]

use petalflow::prelude::*;

#[state]
struct essay {}

#[node(essay)]
async fn essay() {}

flow!(WriteEssay(essay) { START -> essay });

fn main() {}
