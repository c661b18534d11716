//! A managed value that threads cannot share: one error, at the parameter.
use std::rc::Rc;

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

struct Db {
    rows: Rc<Vec<u8>>,
}

#[node(Essay)]
async fn save(draft: &str, db: Managed<Db>) -> EssayNotes {
    EssayNotes(vec![format!("{draft} {}", db.rows.len())])
}

flow!(Write(Essay) { write -> save });

fn main() {}
