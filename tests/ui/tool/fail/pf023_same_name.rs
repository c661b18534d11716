use petalflow::prelude::*;

/// Searches the library.
#[tool]
fn search(query: String) -> String {
    query
}

/// Searches the web.
#[tool(name = "search")]
fn search_web(query: String) -> String {
    query
}

fn main() {
    let _ = tools![search, search_web];
}
