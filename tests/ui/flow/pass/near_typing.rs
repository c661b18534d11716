//! Correct programs that are similar to those in `../fail`: incomplete code and misspelt words.
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

mod half_typed_edge {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod half_typed_match {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod half_typed_arm {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod missing_semicolon {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod called_node {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod quoted_node {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
        }
    }
}

mod fat_arrow {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
        }
    }
}

mod double_operator {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write & polish;
        }
    }
}

mod keyword_node {
    use super::*;

    #[node(Essay)]
    async fn r#loop() {}

    flow! {
        WriteEssay(Essay) {
            START -> r#loop;
        }
    }
}

mod no_state {
    use super::*;

    flow!(WriteEssay(Essay) { START -> write });
}

mod several_mistakes {
    use super::*;

    #[node(Essay)]
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
    }

    #[node(Essay)]
    async fn plan() -> Each<String> {
        Each(vec![])
    }

    #[node(Essay)]
    async fn research(#[item] topic: &str) -> EssayNotes {
        EssayNotes(vec![topic.into()])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique & grade;
            critique -> match { Revise => write, Publish => END };
            grade -> match { true => polish, false => END };
            plan -> each research;
            START -> plan;
        }
    }
}
