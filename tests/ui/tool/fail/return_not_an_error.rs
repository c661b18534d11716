use petalflow::prelude::*;

struct Busy;

/// Searches the library.
#[tool]
async fn search(query: String) -> Result<String, Busy> {
    if query.is_empty() { Err(Busy) } else { Ok(query) }
}

fn main() {}
