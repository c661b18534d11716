//! A node value that is made in an edge, and an edge with options.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Llm<T> {
    model: T,
}

#[node(Essay)]
impl<T: Send + Sync + 'static> Llm<T> {
    async fn call(&self, topic: &str) -> EssayDraft {
        let _ = &self.model;
        EssayDraft(topic.into())
    }
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(WriteEssay(Essay) { START -> Llm { model: 1 } });

flow!(WriteReview(Essay) { START -> write { retry: 3 } });

fn main() {}
