//! Correct programs that are similar to those in `../fail`: what edges deliver, PF020.
#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(Route)]
enum Found {
    Many(Vec<String>),
    One(u32),
    Nothing,
}

#[node(Essay)]
async fn plan() -> Each<String> {
    Each(vec![])
}

#[node(Essay)]
async fn research(#[item] topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

#[node(Essay)]
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn count(#[item] number: &u32) -> EssayNotes {
    EssayNotes(vec![number.to_string()])
}

#[node(Essay)]
async fn search() -> Found {
    Found::Nothing
}

mod pf020_item_needed {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> plan -> each research;
        }
    }
}

mod pf020_item_refused {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> plan -> each research -> polish;
        }
    }
}

mod pf020_items_not_sent {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write & plan;
            plan -> each research;
        }
    }
}

mod pf020_items_unused {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> plan -> each research & polish;
        }
    }
}

mod pf020_each_of_another_type {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> plan -> each research;
        }
    }
}

mod pf020_payload_of_another_type {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => each research, One => count, Nothing => END };
        }
    }
}

mod pf020_payload_needed {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => each research, One => count, Nothing => polish };
        }
    }
}

mod pf020_payload_refused {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => END, One => END, Nothing => polish };
        }
    }
}

mod pf020_payload_is_no_list {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => each research, One => count, Nothing => END };
        }
    }
}

mod pf020_failure_refused {
    use super::*;

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn recover(#[item] failure: &petalflow::NodeError) -> EssayNotes {
        EssayNotes(vec![failure.message.clone()])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write & rewrite2;
            catch write -> recover;
            catch rewrite2 -> polish;
            node rewrite2 = audit;
        }
    }
}
