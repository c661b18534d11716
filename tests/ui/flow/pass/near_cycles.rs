//! Correct programs that are similar to those in `../fail`: cycles, joins and routes, PF010 to PF015.
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
async fn critique(draft: &str) -> (EssayNotes, Verdict) {
    (EssayNotes(vec![draft.into()]), Verdict::Publish)
}

#[node(Essay)]
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn audit() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

mod pf010_endless_cycle {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf011_skipped_side {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => audit, Publish => END };
            audit -> polish;
        }
    }
}

mod pf011_any_number_of_routes {
    use super::*;

    #[node(Essay)]
    async fn tag() -> Vec<Verdict> {
        vec![Verdict::Publish]
    }

    flow! {
        WriteEssay(Essay) {
            START -> tag -> match { Revise => polish, Publish => audit };
            polish -> rewrite;
            audit -> rewrite;
            defer rewrite;
        }
    }
}

mod pf012_missing_route {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf012_route_at_the_end {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod pf013_unknown_route {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf013_bool {
    use super::*;

    #[node(Essay)]
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> grade;
            grade -> match { true => polish, false => END };
        }
    }
}

mod pf014_plain_edge {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => polish, Publish => polish };
        }
    }
}

mod pf014_plain_beside_routes {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => polish };
        }
    }
}

mod pf014_fork_of_a_choice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
        }
    }
}

mod pf015_no_route {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
        }
    }
}

mod pf015_join {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit -> rewrite;
        }
    }
}

mod pf015_start {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write & polish;
        }
    }
}
