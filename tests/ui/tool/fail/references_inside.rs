use petalflow::prelude::*;
use petalflow::tool::ToolContext;

/// Searches the library.
#[tool]
async fn search(words: Option<&[(&str, u8)]>, cx: &ToolContext) -> usize {
    words.map_or(0, <[_]>::len) + cx.call_id.len()
}

fn main() {}
