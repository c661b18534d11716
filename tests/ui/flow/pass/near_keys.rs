//! Correct programs that are similar to those in `../fail`: what nodes read and write, PF016 to PF019.
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

#[node(Essay)]
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

#[node(Review)]
async fn read(text: &str) -> ReviewRemarks {
    ReviewRemarks(vec![text.into()])
}

mod pf016_conflict {
    use super::*;

    flow! {
        WriteEssay(Essay) {
            START -> write -> rewrite -> polish;
        }
    }
}

mod pf016_conflict_with_itself {
    use super::*;

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
            START -> plan -> each research;
        }
    }
}

mod pf017_unwritten_read {
    use super::*;

    #[node(Essay)]
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> grade -> match { true => polish, false => END };
        }
    }
}

mod pf017_one_path {
    use super::*;

    #[derive(Route)]
    enum Verdict {
        Revise,
        Publish,
    }

    #[node(Essay)]
    async fn critique(draft: &str) -> (EssayNotes, Verdict) {
        (EssayNotes(vec![draft.into()]), Verdict::Publish)
    }

    #[node(Essay)]
    async fn write2() -> bool {
        true
    }

    flow! {
        WriteEssay(Essay) {
            START -> write2 -> match { true => write, false => rewrite };
            write | rewrite -> critique -> match { Revise => END, Publish => END };
        }
    }
}

mod pf018_subflow_reads_unknown_key {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod pf019_subflow_writes_twice {
    use super::*;

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| (EssayDraft(String::new()), EssayNotes(r.remarks)) };
            START -> review;
        }
    }
}
