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

pub struct Write;

#[node(Essay)]
impl Write {
    async fn run(self, topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

fn main() {}
