//! Several mistakes: each is reported at its own token.

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
async fn plan() -> Each<String> {
    Each(vec![])
}

#[node(Essay)]
async fn research(#[item] topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

#[node(Essay)]
async fn count(#[item] number: &u32) -> EssayNotes {
    EssayNotes(vec![number.to_string()])
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique & grade;
        critique -> match { Revise => write, Publsh => END };
        grade -> match { true => research, false => END };
        plan -> each count;
        START -> plan;
    }
}

fn main() {}
