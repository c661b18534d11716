//! A default value of another type.

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
        node stamp: Stamp = 7;
        START -> stamp;
    }
}

fn main() {}
