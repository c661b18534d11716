//! Correct programs that are similar to those in `../fail`: the shape of the graph, PF001 to PF009.
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
async fn audit() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn critique(draft: &str) -> (EssayNotes, Verdict) {
    (EssayNotes(vec![draft.into()]), Verdict::Publish)
}

mod pf001_two_sources {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write & audit;
            write -> polish;
            audit -> polish;
        }
    }
}

mod pf001_only_cycles {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf001_empty {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            polish;
        }
    }
}

mod pf002_defer {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            defer polish;
        }
    }
}

mod pf002_with {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            with polish { retry: 3, timeout: 30s, idle: 500ms };
        }
    }
}

mod pf002_catch {
    use super::*;

    #[node(Essay)]
    async fn recover(#[item] failure: &petalflow::NodeError) -> EssayNotes {
        EssayNotes(vec![failure.message.clone()])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            catch write -> recover;
        }
    }
}

mod pf003_stored_twice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish -> audit;
            // Each has the name that the other had before.
            with write { id: "polish" };
            with polish { id: "write", retry: 2 };
        }
    }
}

mod pf003_declared_twice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            node again = polish;
            node more = audit;
            START -> write -> again -> more;
        }
    }
}

mod pf003_same_last_segment {
    use super::*;

    mod drafts {
        use petalflow::prelude::*;

        #[node(super::Essay)]
        pub async fn write() -> super::EssayNotes {
            super::EssayNotes(vec![])
        }
    }

    flow! {
        WriteEssay(Essay) {
            node draft_write = drafts::write;
            START -> write -> draft_write;
        }
    }
}

mod pf004_edge_twice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            write -> audit;
        }
    }
}

mod pf004_route_twice {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write & polish, Publish => END };
        }
    }
}

mod pf005_into_start {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> END;
        }
    }
}

mod pf006_out_of_end {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish -> END;
        }
    }
}

mod pf007_mixed_operators {
    use super::*;

    #[node(Essay)]
    async fn rewrite() -> EssayDraft {
        EssayDraft(String::new())
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
            (polish & audit) | write -> rewrite;
        }
    }
}

mod pf008_unused_node {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            node again = polish;
            START -> write -> again;
        }
    }
}

mod pf009_unreachable_node {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write & audit;
            audit -> polish;
        }
    }
}

mod pf009_unreachable_cycle {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> audit;
        }
    }
}
