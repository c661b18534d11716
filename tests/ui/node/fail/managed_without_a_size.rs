use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

trait Library: Send + Sync {
    fn find(&self, topic: &str) -> String;
}

#[node(Essay)]
async fn write(topic: &str, library: Managed<dyn Library>) -> EssayDraft {
    EssayDraft(library.find(topic))
}

/// Searches the library.
#[tool]
async fn search(query: String, library: Managed<dyn Library>) -> String {
    library.find(&query)
}

flow!(WriteEssay(Essay) { write });

fn main() {}
