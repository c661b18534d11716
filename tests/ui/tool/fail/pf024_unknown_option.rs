use petalflow::prelude::*;

/// Deletes a book.
#[tool(confrim)]
fn delete(id: u32) -> u32 {
    id
}

fn main() {
    let _ = tools![delete];
}
