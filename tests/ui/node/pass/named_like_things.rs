#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

// A user type of the prelude's name, routes called like it, a node called like its module.
#[derive(Route)]
pub enum Option {
    Some,
    None,
}

#[node(Essay)]
async fn choose(draft: &str) -> Option {
    if draft.is_empty() {
        Option::None
    } else {
        Option::Some
    }
}

mod write {
    use super::{Essay, EssayDraft};
    use petalflow::prelude::*;

    #[node(Essay)]
    pub async fn write(topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

type Result<T> = std::result::Result<T, std::io::Error>;

#[node(Essay)]
async fn read(r#topic: &str) -> Result<EssayDraft> {
    Ok(EssayDraft(topic.into()))
}
