use petalflow::prelude::*;

struct Library(u32);

/// Counts the books.
#[tool]
fn count(library: &Managed<Library>) -> u32 {
    library.0
}

fn main() {}
