use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(query: &str) -> String {
    query.to_uppercase()
}

fn main() {
    let _ = tools![search];
}
