//! Options have names.

use petalflow::prelude::*;

#[tool("search")]
fn find(words: String) -> String {
    words
}

fn main() {
    let _ = tools![find];
}
