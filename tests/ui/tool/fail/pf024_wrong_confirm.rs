use petalflow::prelude::*;

/// Deletes a book.
#[tool(confirm = 3)]
fn delete(id: u32) -> u32 {
    id
}

fn main() {}
