//! The values of a node are not taken apart as those of a handler of axum, whose `State` is a trait here.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Db;

struct Json<T>(T);

#[node(Essay)]
async fn write(State(db): State<Db>, topic: &str) -> EssayDraft {
    EssayDraft(db.find(topic))
}

#[node(Essay)]
async fn polish(db: State<Db>, draft: &str) -> EssayDraft {
    EssayDraft(db.find(draft))
}

#[node(Essay)]
async fn publish(Json(draft): Json<String>) -> EssayDraft {
    EssayDraft(draft)
}

/// Searches the library.
#[tool]
async fn search(State(db): State<Db>, query: String) -> String {
    db.find(&query)
}

flow!(WriteEssay(Essay) { write -> polish -> publish });

fn main() {}
