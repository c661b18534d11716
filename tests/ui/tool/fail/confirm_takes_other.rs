use petalflow::prelude::*;

fn risky(title: &str) -> bool {
    title.is_empty()
}

/// Deletes a book.
#[tool(confirm = risky)]
fn delete(id: u32) -> u32 {
    id
}

fn main() {}
