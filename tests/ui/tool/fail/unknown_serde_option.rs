//! A misspelt option of serde is one error.

use petalflow::prelude::*;

/// Does something.
#[tool]
fn search(#[serde(renam = "query")] words: String) -> String {
    words
}

fn main() {
    let _ = tools![search];
}
