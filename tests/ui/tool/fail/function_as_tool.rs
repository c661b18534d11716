//! The function instead of the tool.

use petalflow::prelude::*;
use petalflow::tool::ToolSet;

/// Finds a book.
#[tool]
async fn find(
    /// The title.
    title: String,
) -> String {
    title
}

fn main() {
    let tools = ToolSet::new().with(find);
    println!("{}", tools.len());
}
