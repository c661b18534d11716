use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str, limit: usize = 10) -> EssayDraft {
    EssayDraft(topic[..limit].to_string())
}

/// Searches the library.
#[tool]
async fn search(query: String, limit: usize = 10) -> String {
    query[..limit].to_string()
}

flow!(WriteEssay(Essay) { write });

fn main() {}
