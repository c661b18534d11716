//! A tool without `self` is a function beside the `impl` block.
use petalflow::prelude::*;

struct Library;

impl Library {
    /// Searches the library.
    #[tool]
    async fn search(query: String) -> String {
        query
    }
}

fn main() {}
