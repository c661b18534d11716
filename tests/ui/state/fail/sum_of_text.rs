use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(sum)]
    pub draft: String,
}

#[node(Essay)]
fn write() -> EssayDraft {
    EssayDraft(String::new())
}

fn main() {}
