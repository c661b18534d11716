//! The attribute twice, from two edits.
use petalflow::prelude::*;

/// Searches the library.
#[tool(timeout = 3s)]
#[tool]
async fn search(query: String) -> Vec<String> {
    vec![query]
}

fn main() {
    let _ = tools![search];
}
