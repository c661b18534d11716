use petalflow::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Filter {
    since: u16,
}

/// Searches the library.
#[tool]
async fn search(query: String, filter: Filter) -> String {
    format!("{query} since {}", filter.since)
}

fn main() {
    let _ = tools![search];
}
