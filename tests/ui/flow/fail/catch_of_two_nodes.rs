//! One `catch` for two nodes: each needs its own statement.
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

#[node(Essay)]
async fn recover(#[item] failure: &NodeError) -> EssayNotes {
    EssayNotes(vec![failure.to_string()])
}

flow! {
    Write(Essay) {
        write -> critique;
        catch write & critique -> recover;
    }
}

fn main() {}
