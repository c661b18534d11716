use petalflow::prelude::*;

/// Searches the library.
#[tool(blocking)]
async fn search(query: String) -> String {
    query
}

fn main() {}
