//! A type that is not a state.

use petalflow::prelude::*;

struct Plain;

flow!(WriteEssay(Plain) { START -> Plain });

fn main() {}
