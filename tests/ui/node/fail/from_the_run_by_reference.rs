//! A value from the run is taken by value. A reference reads a key.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Db;

#[node(Essay)]
async fn write(topic: &str, cx: &Context, db: &Managed<Db>) -> EssayDraft {
    let _ = (cx, db);
    EssayDraft(topic.into())
}

flow!(Write(Essay) { write });

fn main() {
    let _ = Write::run("petals".to_string());
}
