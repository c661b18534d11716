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

#[derive(Route)]
pub enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> (Verdict, EssayDraft) {
    (Verdict::Revise, EssayDraft(topic.into()))
}

fn main() {}
