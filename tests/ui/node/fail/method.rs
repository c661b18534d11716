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

pub struct Writer;

impl Writer {
    #[node(Essay)]
    async fn write(&self, topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

fn main() {}
