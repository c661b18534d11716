//! Two arguments with one name for the model.

use petalflow::prelude::*;

#[tool]
fn search(#[serde(rename = "query")] words: String, query: String) -> String {
    words + &query
}

fn main() {
    let _ = tools![search];
}
