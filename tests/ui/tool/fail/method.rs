use petalflow::prelude::*;

struct Library;

impl Library {
    /// Searches the library.
    #[tool]
    async fn search(&self, query: String) -> String {
        query
    }
}

fn main() {}
