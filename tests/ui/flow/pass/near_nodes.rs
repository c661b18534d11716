//! Correct programs that are similar to those in `../fail`: nodes, node values and sub-flows.
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

#[state]
struct Review {
    #[key(input)]
    text: String,
    #[key(append)]
    remarks: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Review)]
async fn read(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![text.into()])
}

mod unknown_node {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod plain_function {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod unknown_state {
    use super::*;

    flow!(WriteEssay(Essay) { START -> write -> polish });
}

mod missing_value {
    use super::*;

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow!(WriteEssay(Essay) { node first: Stamp; node second: Stamp; START -> first -> second });

    pub fn main() {
        let _run = WriteEssay::new()
            .second(Stamp(2))
            .limit(5)
            .first(Stamp(1))
            .run(String::new());
    }
}

mod run_without_value {
    use super::*;

    struct Stamp(u32);

    #[node(Essay)]
    impl Stamp {
        fn stamp(&self) -> EssayNotes {
            EssayNotes(vec![self.0.to_string()])
        }
    }

    flow!(WriteEssay(Essay) { node stamp: Stamp = Stamp(7); START -> stamp });

    pub fn main() {
        let _run = WriteEssay::run(String::new());
        let _run = WriteEssay::new().stamp(Stamp(8)).run(String::new());
    }
}

mod wrong_value {
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

mod unknown_value_type {
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
            node stamp: Stamp;
            START -> stamp;
        }
    }
}

mod value_named_like_a_method {
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
            node limits: Stamp = Stamp(7);
            START -> limits;
        }
    }
}

mod subflow_is_no_flow {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_of_another_state {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_wrong_input {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| ReviewInput { text: topic.into() }, out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_wrong_output {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| Some(EssayNotes(r.remarks)) };
            START -> review;
        }
    }
}

mod subflow_without_out {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |_: Review| () };
            START -> review;
        }
    }
}

mod subflow_untyped {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod subflow_keep {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks), keep: thread };
            START -> review;
        }
    }
}
