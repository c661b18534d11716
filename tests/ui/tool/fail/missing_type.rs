use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(query: Qwery) -> String {
    String::new()
}

fn main() {
    let _ = tools![search];
}
