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
async fn write(#[item] first: &str, #[item] second: &u32) -> EssayDraft {
    EssayDraft(format!("{first}{second}"))
}

fn main() {}
