//! A method of a trait without a body cannot be a tool.

use petalflow::prelude::*;

trait Searches {
    #[tool]
    fn search(query: String) -> String;
}

fn main() {}
