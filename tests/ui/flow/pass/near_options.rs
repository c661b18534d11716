//! Correct programs that are similar to those in `../fail`: options, node types and failures, PF024 to PF026.
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

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn recover(#[item] failure: &petalflow::NodeError) -> EssayNotes {
    EssayNotes(vec![failure.message.clone()])
}

mod pf024_unknown_option {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { retry: petalflow::policy::Retry::attempts(3).jitter(), timeout: "30 s" };
        }
    }
}

mod pf024_repeated_option {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { retry: 3 };
            with write { timeout: 1m };
        }
    }
}

mod pf024_not_a_time_span {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { timeout: 30s };
        }
    }
}

mod pf025_another_state {
    use super::*;

    #[state]
    struct Review {
        #[key(input)]
        text: String,
        #[key(append)]
        remarks: Vec<String>,
    }

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            START -> write -> review;
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
        }
    }
}

mod pf025_not_a_node {
    use super::*;

    #[node(Essay)]
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod pf025_value_is_no_node {
    use super::*;

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow! {
        WriteEssay(Essay) {
            node stamp: Stamp = Stamp(7);
            START -> stamp;
        }
    }
}

mod pf026_caught_twice {
    use super::*;

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> audit;
            catch write -> recover;
            catch audit -> recover;
        }
    }
}

mod pf026_catches_itself {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            catch write -> recover;
            with write { retry: 3 };
        }
    }
}

mod pf026_catch_to_end {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write;
            catch write -> recover;
            recover -> END;
        }
    }
}
