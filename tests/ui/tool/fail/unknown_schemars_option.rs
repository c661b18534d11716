use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(query: String, #[schemars(rnge(min = 1))] limit: usize) -> String {
    query[..limit].to_string()
}

fn main() {
    let _ = tools![search];
}
