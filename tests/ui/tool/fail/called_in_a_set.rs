use petalflow::prelude::*;

/// Finds.
#[tool]
fn find(query: String) -> Vec<String> { vec![query] }

fn main() { let _ = tools![find()]; }
