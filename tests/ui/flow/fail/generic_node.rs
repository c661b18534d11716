//! A node value of a generic type that is named in an edge: one error, whichever way it is written.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Llm<T>(T);

#[node(Essay)]
impl<T: Send + Sync + 'static> Llm<T> {
    async fn call(&self, topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

flow!(WriteEssay(Essay) { START -> Llm<u8> });

flow!(WriteReview(Essay) { START -> self::Llm::<u8> -> END });

fn main() {}
