//! Correct programs that are similar to those in `../fail`: the statements of the language.
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
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn critique(draft: &str) -> (EssayNotes, Verdict) {
    (EssayNotes(vec![draft.into()]), Verdict::Publish)
}

#[node(Essay)]
async fn audit() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

mod interrupt {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod cache {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { cache: 1h };
        }
    }
}

mod chain_after_match {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => polish, Publish => audit };
            polish | audit -> rewrite;
        }
    }
}

mod arm_with_a_chain {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => polish, Publish => END };
            polish -> write;
        }
    }
}

mod arm_with_a_path {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod arm_with_a_pattern {
    use super::*;

    #[derive(Route)]
    enum Found {
        Many(Vec<String>),
        One(u32),
        Nothing,
    }

    #[node(Essay)]
    async fn research(#[item] topic: &str) -> EssayNotes {
        EssayNotes(vec![topic.into()])
    }

    #[node(Essay)]
    async fn count(#[item] number: &u32) -> EssayNotes {
        EssayNotes(vec![number.to_string()])
    }

    #[node(Essay)]
    async fn search() -> Found {
        Found::Nothing
    }

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => each research, One => count, Nothing => END };
        }
    }
}

mod arm_with_a_wildcard {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise | Publish => END };
        }
    }
}

mod arm_with_a_choice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => polish & audit, Publish => END };
        }
    }
}

mod join_of_a_choice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
            polish & audit -> rewrite;
        }
    }
}

mod join_of_start {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod start_to_end {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> END;
        }
    }
}

mod second_name_of_a_second_name {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            node once = polish;
            node twice = polish;
            START -> once -> twice;
        }
    }
}
