//! A state owns its values: a reference is one error, at any place in the type.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: &str,
    pages: Vec<(u32, &[u8])>,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.to_string())
}

flow!(Write(Essay) { write });

fn main() {
    let _ = Write::run("petals".to_string());
}
