//! An item that the node takes by value is still an item: the edges that deliver it are right.
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
async fn plan(topic: &str) -> Each<String> {
    Each(vec![topic.into()])
}

#[node(Essay)]
async fn research(#[item] question: String) -> EssayNotes {
    EssayNotes(vec![question])
}

#[derive(Route)]
enum Next {
    Dig((u8, u8)),
    Done,
}

#[node(Essay)]
async fn choose(draft: &str) -> Next {
    Next::Dig((1, draft.len() as u8))
}

#[node(Essay)]
async fn dig(#[item] (from, to): &(u8, u8)) -> EssayNotes {
    EssayNotes(vec![format!("{from} {to}")])
}

flow! {
    Research(Essay) {
        plan -> each research;
    }
}

flow! {
    Dig(Essay) {
        write -> choose -> match { Dig => dig, Done => END };
    }
}

fn main() {}
