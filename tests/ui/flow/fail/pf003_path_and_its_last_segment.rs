//! One node is named by its path and by the last segment of it.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

mod nodes {
    use super::*;

    #[node(Essay)]
    pub async fn write(topic: &str) -> EssayDraft {
        EssayDraft(topic.to_string())
    }

    #[node(Essay)]
    pub async fn polish(draft: &str) -> EssayDraft {
        EssayDraft(draft.to_string())
    }
}

use nodes::polish;

flow!(WriteEssay(Essay) { nodes::write -> nodes::polish; polish -> END });
flow!(DraftEssay(Essay) { nodes::write; with write { retry: 3 } });

fn main() {}
