use petalflow::prelude::*;

fn risky(id: &u32) -> u32 {
    *id
}

/// Deletes a book.
#[tool(confirm = risky)]
fn delete(id: u32) -> u32 {
    id
}

fn main() {}
