//! Two arguments that a model would know by the same name.

use petalflow::prelude::*;

#[tool]
fn search(#[serde(rename = "query")] words: String, query: String) -> String {
    words + &query
}

fn main() {
    let _ = tools![search];
}
