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

async fn wait() {}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    let words = std::rc::Rc::new(topic.to_string());
    wait().await;
    EssayDraft(words.to_string())
}

fn main() {}
