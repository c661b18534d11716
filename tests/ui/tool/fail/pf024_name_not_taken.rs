use petalflow::prelude::*;

/// Searches the library.
#[tool(name = "search books")]
fn search(query: String) -> String {
    query
}

fn main() {}
