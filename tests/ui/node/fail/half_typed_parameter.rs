//! An incomplete parameter: rustc reports it, and the node exists.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str, dra) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(Write(Essay) { write });

fn main() {
    let _ = Write::run("petals".to_string());
}
