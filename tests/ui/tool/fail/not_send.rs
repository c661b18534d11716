use petalflow::prelude::*;
use std::rc::Rc;

/// Searches the library.
#[tool]
async fn search(query: String) -> String {
    let shared = Rc::new(query);
    tokio::task::yield_now().await;
    shared.to_string()
}

fn main() {}
