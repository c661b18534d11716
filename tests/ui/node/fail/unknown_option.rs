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

#[node(Essay, priority = 3)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

fn main() {}
