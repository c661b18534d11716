use petalflow::prelude::*;

/// Finds.
#[tool]
async fn find(query: String) -> impl Iterator<Item = String> { std::iter::once(query) }

fn main() {}
