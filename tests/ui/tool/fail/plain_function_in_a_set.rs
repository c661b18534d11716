use petalflow::prelude::*;

/// Searches the library.
#[tool]
fn search(query: String) -> String {
    query
}

fn fetch(url: String) -> String {
    url
}

fn main() {
    let _ = tools![search, fetch];
    fetch(String::new());
}
