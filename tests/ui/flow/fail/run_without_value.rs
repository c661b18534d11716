//! `run` of a flow with a required node value.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

struct Stamp(u32);

#[node(Essay)]
impl Stamp {
    fn stamp(&self) -> EssayNotes {
        EssayNotes(vec![self.0.to_string()])
    }
}

flow!(WriteEssay(Essay) { node stamp: Stamp; START -> stamp });

fn main() {
    let _run = WriteEssay::run(String::new());
}
