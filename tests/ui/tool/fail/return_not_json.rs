use petalflow::prelude::*;

struct Book;

/// Searches the library.
#[tool]
async fn search(query: String) -> Option<Book> {
    drop(query);
    Some(Book)
}

fn main() {
    let _ = tools![search];
}
