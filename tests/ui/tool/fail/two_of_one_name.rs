//! A tool that was copied and not renamed.
use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(query: String) -> String {
    query
}

/// Searches the web.
#[tool]
async fn search(query: String, limit: u32) -> String {
    format!("{query} {limit}")
}

fn main() {
    let _ = tools![search];
}
