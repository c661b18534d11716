//! A tool that is also a node.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

/// Searches the library.
#[tool]
#[node(Essay)]
async fn search(
    /// Words of the title.
    topic: String,
) -> Vec<String> {
    vec![topic]
}

flow! {
    Write(Essay) {
        search;
    }
}

fn main() {
    let _ = tools![search];
}
