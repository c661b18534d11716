//! Two arguments that have the same name in the schema that the model receives.

use petalflow::prelude::*;

/// Does something.
#[tool]
fn search(#[serde(rename = "query")] words: String, query: String) -> String {
    words + &query
}

fn main() {
    let _ = tools![search];
}
