//! A value without the name of its option.

use petalflow::prelude::*;

/// Does something.
#[tool("search")]
fn find(words: String) -> String {
    words
}

fn main() {
    let _ = tools![find];
}
