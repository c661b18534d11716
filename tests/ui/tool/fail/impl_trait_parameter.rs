use petalflow::prelude::*;

/// Adds.
#[tool]
fn add(a: impl Into<i64>) -> i64 {
    a.into()
}

fn main() {}
