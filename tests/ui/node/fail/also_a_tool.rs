//! A node that is also a tool.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
#[petalflow::tool]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    Write(Essay) {
        write;
    }
}

fn main() {
    let _ = tools![write];
}
