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
async fn write(topic: &str) -> (EssayDraft, EssayNotes, EssayDraft) {
    (EssayDraft(topic.into()), EssayNotes(vec![]), EssayDraft(topic.into()))
}

fn main() {}
