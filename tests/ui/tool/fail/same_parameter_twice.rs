//! rustc's error about two parameters with one name appears once.

use petalflow::prelude::*;

/// Does something.
#[tool]
fn add(a: i64, a: i64) -> i64 {
    a
}

fn main() {
    let _ = tools![add];
}
