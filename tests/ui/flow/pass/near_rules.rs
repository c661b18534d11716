//! What stands near `../fail`, and is fine.
#![deny(warnings)]
#![allow(dead_code)]

mod pf001_two_sources {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write & audit;
            write -> polish;
            audit -> polish;
        }
    }
}

mod pf001_only_cycles {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf001_empty {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            polish;
        }
    }
}

mod pf002_defer {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            defer polish;
        }
    }
}

mod pf002_with {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            with polish { retry: 3, timeout: 30s, idle: 500ms };
        }
    }
}

mod pf002_catch {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            node again = polish;
            node more = audit;
            START -> write -> again -> more;
        }
    }
}

mod pf003_same_last_segment {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
            write -> audit;
        }
    }
}

mod pf004_route_twice {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write & polish, Publish => END };
        }
    }
}

mod pf005_into_start {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> END;
        }
    }
}

mod pf006_out_of_end {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish -> END;
        }
    }
}

mod pf007_mixed_operators {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
            (polish & audit) | write -> rewrite;
        }
    }
}

mod pf008_unused_node {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            node again = polish;
            START -> write -> again;
        }
    }
}

mod pf009_unreachable_node {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write & audit;
            audit -> polish;
        }
    }
}

mod pf009_unreachable_cycle {
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
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> audit;
        }
    }
}

mod pf010_endless_cycle {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf011_skipped_side {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => audit, Publish => END };
            audit -> polish;
        }
    }
}

mod pf011_any_number_of_routes {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn tag() -> Vec<Verdict> {
        vec![Verdict::Publish]
    }

    #[node(Essay)]
    async fn rewrite() -> EssayDraft {
        EssayDraft(String::new())
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf012_route_at_the_end {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish;
        }
    }
}

mod pf013_unknown_route {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => END };
        }
    }
}

mod pf013_bool {
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
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
    }

    #[node(Essay)]
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> grade;
            grade -> match { true => polish, false => END };
        }
    }
}

mod pf014_plain_edge {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => polish, Publish => polish };
        }
    }
}

mod pf014_plain_beside_routes {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique;
            critique -> match { Revise => write, Publish => polish };
        }
    }
}

mod pf014_fork_of_a_choice {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
        }
    }
}

mod pf015_no_route {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit;
        }
    }
}

mod pf015_join {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> polish & audit -> rewrite;
        }
    }
}

mod pf015_start {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write & polish;
        }
    }
}

mod pf016_conflict {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn rewrite() -> EssayDraft {
        EssayDraft(String::new())
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> rewrite -> polish;
        }
    }
}

mod pf016_conflict_with_itself {
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
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
    }

    #[node(Essay)]
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write -> grade -> match { true => polish, false => END };
        }
    }
}

mod pf017_one_path {
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
    async fn rewrite() -> EssayDraft {
        EssayDraft(String::new())
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

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| EssayNotes(r.remarks) };
            START -> review;
        }
    }
}

mod pf019_subflow_writes_twice {
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

    #[node(Review)]
    async fn read(text: &str) -> ReviewRemarks {
        ReviewRemarks(vec![text.into()])
    }

    flow!(ReviewEssay(Review) { read });

    flow! {
        WriteEssay(Essay) {
            node review: ReviewEssay { in: |topic: &str| topic.to_string(), out: |r: Review| (EssayDraft(String::new()), EssayNotes(r.remarks)) };
            START -> review;
        }
    }
}

mod pf020_item_needed {
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

mod pf020_item_refused {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
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
            START -> plan -> each research -> polish;
        }
    }
}

mod pf020_items_not_sent {
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
    async fn plan() -> Each<String> {
        Each(vec![])
    }

    #[node(Essay)]
    async fn research(#[item] topic: &str) -> EssayNotes {
        EssayNotes(vec![topic.into()])
    }

    flow! {
        WriteEssay(Essay) {
            START -> write & plan;
            plan -> each research;
        }
    }
}

mod pf020_items_unused {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
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
            START -> plan -> each research & polish;
        }
    }
}

mod pf020_each_of_another_type {
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

mod pf020_payload_of_another_type {
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

mod pf020_payload_needed {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
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
            START -> search -> match { Many => each research, One => count, Nothing => polish };
        }
    }
}

mod pf020_payload_refused {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn search() -> Found {
        Found::Nothing
    }

    flow! {
        WriteEssay(Essay) {
            START -> search -> match { Many => END, One => END, Nothing => polish };
        }
    }
}

mod pf020_payload_is_no_list {
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

mod pf020_failure_refused {
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
    async fn polish() -> EssayNotes {
        EssayNotes(vec![])
    }

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

mod pf024_unknown_option {
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

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { retry: petalflow::Retry::times(3).jitter(), timeout: "30 s" };
        }
    }
}

mod pf024_repeated_option {
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

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { retry: 3 };
            with write { timeout: 1m };
        }
    }
}

mod pf024_not_a_time_span {
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

    flow! {
        WriteEssay(Essay) {
            START -> write;
            with write { timeout: 30s };
        }
    }
}

mod pf025_another_state {
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
    use petalflow::prelude::*;

    #[state]
    struct Essay {
        #[key(input)]
        topic: String,
        draft: String,
        #[key(append)]
        notes: Vec<String>,
    }

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
    async fn audit() -> EssayNotes {
        EssayNotes(vec![])
    }

    #[node(Essay)]
    async fn recover(#[item] failure: &petalflow::NodeError) -> EssayNotes {
        EssayNotes(vec![failure.message.clone()])
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

    flow! {
        WriteEssay(Essay) {
            START -> write;
            catch write -> recover;
            with write { retry: 3 };
        }
    }
}

mod pf026_catch_to_end {
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

    flow! {
        WriteEssay(Essay) {
            START -> write;
            catch write -> recover;
            recover -> END;
        }
    }
}

fn main() {}
