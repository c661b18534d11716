//! An edge names a node value of a generic type: one error, in each of the forms in which it can be written.

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
