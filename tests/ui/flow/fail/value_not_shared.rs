//! A node value that threads cannot share: the error is at the value, not at the flows that use it.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

struct Count(std::cell::Cell<u32>);

#[node(Essay)]
impl Count {
    async fn run(&self, draft: &str) -> EssayNotes {
        self.0.set(self.0.get() + 1);
        EssayNotes(vec![draft.into()])
    }
}

flow! {
    Write(Essay) {
        write -> count;
        node count: Count = Count(std::cell::Cell::new(0));
    }
}

flow! {
    Again(Essay) {
        write -> count;
        node count: Count;
    }
}

fn main() {}
