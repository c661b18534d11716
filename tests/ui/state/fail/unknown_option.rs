use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(inptu)]
    pub topic: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[node(Essay)]
fn write() -> EssayNotes {
    EssayNotes(vec![])
}

fn main() {}
