#![deny(warnings)]
#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    pub subtitle: Option<String>,
}

pub struct Db;

#[derive(Route)]
pub enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str, notes: &[String], cx: Context, db: Managed<Db>) -> EssayDraft {
    let _ = (notes, cx, db);
    EssayDraft(topic.into())
}

#[node(Essay)]
fn review(
    draft: &String,
    subtitle: Option<&str>,
) -> Result<(EssayNotes, Option<EssaySubtitle>, Verdict), std::fmt::Error> {
    let _ = (draft, subtitle);
    Ok((EssayNotes(vec![]), None, Verdict::Publish))
}

#[node(Essay)]
fn nothing() {}

#[node(Essay)]
fn whole(essay: &Essay) -> bool {
    essay.draft.is_empty()
}

#[node(Essay)]
async fn plan() -> (EssayNotes, Each<String>) {
    (EssayNotes(vec![]), Each(vec![]))
}

#[node(Essay)]
async fn research(#[item] topic: &str, #[key(EssayNotes)] old: &[String]) -> Overwrite<EssayNotes> {
    Overwrite(EssayNotes(
        old.iter().cloned().chain([topic.into()]).collect(),
    ))
}

#[node(Essay)]
async fn choose() -> Vec<Verdict> {
    vec![Verdict::Revise]
}

#[node(Essay, blocking)]
fn read(topic: &str, #[item] number: &u32) -> petalflow::Result<EssayDraft> {
    Ok(EssayDraft(format!("{topic} {number}")))
}

#[node(Essay, spawn)]
async fn count(notes: &[String]) -> EssayDraft {
    EssayDraft(notes.len().to_string())
}

#[node(Essay, name = "Slow", retry = 3, timeout = 30s, idle = "500ms")]
async fn slow(mut cx: Context) {
    cx = cx.clone();
    let _ = cx;
}
