//! A deprecated node and a deprecated tool are reported where they are used, once each, and not where they are declared.
#![deny(deprecated)]

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[deprecated = "use `compose`"]
#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[deprecated = "use `find`"]
#[tool]
async fn search(query: String) -> String {
    query
}

flow! {
    Write(Essay) {
        write;
    }
}

fn main() {
    let _ = tools![search];
}
