//! What stands near `../fail`, and is fine.
#![deny(warnings)]
#![allow(dead_code)]

mod interrupt {
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

mod cache {
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
            with write { cache: 1h };
        }
    }
}

mod half_typed_edge {
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

mod half_typed_match {
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

mod half_typed_arm {
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

mod missing_semicolon {
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

mod called_node {
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

mod quoted_node {
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
        }
    }
}

mod fat_arrow {
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
        }
    }
}

mod double_operator {
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

mod keyword_node {
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
    async fn r#loop() {}

    flow! {
        WriteEssay(Essay) {
            START -> r#loop;
        }
    }
}

mod chain_after_match {
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

    flow! {
        WriteEssay(Essay) {
            START -> write -> critique -> match { Revise => polish, Publish => audit };
            polish | audit -> rewrite;
        }
    }
}

mod arm_with_a_chain {
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
            critique -> match { Revise => polish, Publish => END };
            polish -> write;
        }
    }
}

mod arm_with_a_path {
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

mod arm_with_a_pattern {
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

mod arm_with_a_wildcard {
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
            critique -> match { Revise | Publish => END };
        }
    }
}

mod arm_with_a_choice {
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
            START -> write -> critique;
            critique -> match { Revise => polish & audit, Publish => END };
        }
    }
}

mod join_of_a_choice {
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
            polish & audit -> rewrite;
        }
    }
}

mod join_of_start {
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

mod start_to_end {
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

mod second_name_of_a_second_name {
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
            node once = polish;
            node twice = polish;
            START -> once -> twice;
        }
    }
}

mod no_state {
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

    flow!(WriteEssay(Essay) { START -> write });
}

mod several_mistakes {
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
    async fn grade(draft: &str) -> bool {
        draft.is_empty()
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
            START -> write -> critique & grade;
            critique -> match { Revise => write, Publish => END };
            grade -> match { true => polish, false => END };
            plan -> each research;
            START -> plan;
        }
    }
}

fn main() {}
