//! A node value with the name of a method of the builder.

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

flow! {
    WriteEssay(Essay) {
        node limit: Stamp = Stamp(7);
        START -> limit;
    }
}

fn main() {}
