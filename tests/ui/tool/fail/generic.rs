use petalflow::prelude::*;

/// Searches the library.
#[tool]
async fn search<T: Send>(query: T) -> String {
    drop(query);
    String::new()
}

fn main() {
    let _ = tools![search];
}
