use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    #[key(sum)]
    pub rounds: u32,
    pub subtitle: Option<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn polish(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

macro_rules! tail { () => { write -> polish; } }

flow! {
    Write(Essay) {
        START -> write;
        tail!();
    }
}

fn main() {}
