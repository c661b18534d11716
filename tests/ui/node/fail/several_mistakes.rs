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

#[node(Essay, retries = 3)]
async fn write(dradt: &str, topic: String) -> (EssayDraft, u32) {
    (EssayDraft(dradt.into()), topic.len() as u32)
}

fn main() {}
