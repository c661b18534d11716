//! A tool is a function of its own: a trait's method without a body is none.

use petalflow::prelude::*;

trait Searches {
    #[tool]
    fn search(query: String) -> String;
}

fn main() {}
