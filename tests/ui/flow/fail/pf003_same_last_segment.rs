//! Two functions with one name.

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

mod drafts {
    use petalflow::prelude::*;

    #[node(super::Essay)]
    pub async fn write() -> super::EssayNotes {
        super::EssayNotes(vec![])
    }
}

flow! {
    WriteEssay(Essay) {
        START -> write -> drafts::write;
    }
}

fn main() {}
