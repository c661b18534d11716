use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    pub subtitle: Option<String>,
}

#[node(Essay)]
async fn write() -> (EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes, EssayNotes) {
    std::process::abort()
}

fn main() {}
