use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub draft: String,
    pub draft: String,
}

#[node(Essay)]
fn write() -> EssayDraft {
    EssayDraft(String::new())
}

fn main() {}
