//! What rustc says of two parameters of one name is said once.

use petalflow::prelude::*;

#[tool]
fn add(a: i64, a: i64) -> i64 {
    a
}

fn main() {
    let _ = tools![add];
}
