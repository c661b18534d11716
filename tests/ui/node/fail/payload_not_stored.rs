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

#[derive(Clone)]
pub struct Hint;

#[derive(Route)]
pub enum Verdict {
    Revise(Hint),
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> (EssayDraft, Verdict) {
    (EssayDraft(topic.into()), Verdict::Publish)
}

fn main() {}
