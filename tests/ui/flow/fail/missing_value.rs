//! A run without a required node value.

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

flow!(WriteEssay(Essay) { node first: Stamp; node second: Stamp; START -> first -> second });

fn main() {
    let _run = WriteEssay::new().first(Stamp(1)).run(String::new());
}
