use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search(
    query: String,
    #[serde(default = 10)] limit: usize,
    #[serde(default = "10")] offset: usize,
) -> String {
    query[offset..limit].to_string()
}

fn main() {
    let _ = tools![search];
}
