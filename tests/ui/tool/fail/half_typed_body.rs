use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(query: String) -> String {
    query.
}

fn main() {
    let _ = tools![search];
}
