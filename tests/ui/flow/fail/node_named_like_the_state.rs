//! A node with the name of its state in a flow: one error.
#![allow(non_camel_case_types)]

use petalflow::prelude::*;

#[state]
struct essay {}

#[node(essay)]
async fn essay() {}

flow!(WriteEssay(essay) { START -> essay });

fn main() {}
