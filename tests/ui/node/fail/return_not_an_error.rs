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

pub struct Refused;

#[node(Essay)]
async fn write(topic: &str) -> Result<EssayDraft, Refused> {
    Ok(EssayDraft(topic.into()))
}

fn main() {}
