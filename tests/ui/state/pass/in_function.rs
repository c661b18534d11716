#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

fn run() {
    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
    }

    #[node(Essay)]
    async fn write(topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}
