//! An incomplete group: one error, and the other mistakes are still reported.
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

flow! {
    Write(Essay) {
        write -> (critique & );
        interrupt before critique;
        with write { retry: 0 };
    }
}

fn main() {
    let _ = Write::run("petals".to_string());
}
