//! Lints that a library denies, over every macro: what they generate breaks none of them.
#![deny(
    dead_code,
    deprecated,
    elided_lifetimes_in_paths,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    rust_2018_idioms,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unused,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::tool::ToolSet;

/// An essay.
#[state]
#[derive(Debug)]
pub struct Essay {
    /// What it is about.
    #[key(input)]
    pub topic: String,
    /// How often it was written.
    #[key(input, sum, skip_zero)]
    pub rounds: u32,
    /// The text.
    pub draft: Option<char>,
    /// What critics say.
    #[key(append)]
    pub notes: Vec<String>,
}

/// What a critic says.
#[derive(Clone, Debug, Route)]
pub enum Verdict {
    /// Write it again, for this reason.
    Revise(String),
    /// It is good.
    Publish,
}

/// May it be published?
#[derive(Debug, serde::Serialize, Ask)]
#[ask(answer = bool)]
pub struct Approve {
    /// The text.
    pub draft: String,
}

/// Searches.
#[tool]
pub async fn search(
    /// Words.
    query: String,
) -> String {
    query
}

/// Writes.
#[node(Essay, retry = 2)]
pub async fn write(topic: &str) -> (EssayDraft, EssayRounds) {
    (EssayDraft(topic.chars().next()), EssayRounds(1))
}

/// Judges.
#[node(Essay)]
pub async fn judge(notes: &[String], cx: Context) -> petalflow::Result<Verdict> {
    let _approved = cx
        .ask(Approve {
            draft: String::new(),
        })
        .await?;
    Ok(match notes.first() {
        Some(note) => Verdict::Revise(note.clone()),
        None => Verdict::Publish,
    })
}

/// Notes.
#[node(Essay)]
pub async fn note(#[item] reason: &str) -> EssayNotes {
    EssayNotes(vec![reason.into()])
}

/// Says it aloud.
#[derive(Clone, Copy, Debug)]
pub struct Shout;

#[node(Essay)]
impl Shout {
    async fn run(&self, rounds: &u32) -> EssayNotes {
        EssayNotes(vec![rounds.to_string()])
    }
}

flow! {
    /// Writes an essay.
    pub Write(Essay) {
        START -> write -> judge -> match { Revise => note, Publish => END };
        note -> write;
    }
}

flow! {
    /// Shouts.
    pub Aloud(Essay) {
        shout -> inner;
        node shout: Shout;
        node inner: Write { in: |topic: &str, rounds: &u32| EssayInput { topic: topic.into(), rounds: *rounds }, out: |essay: Essay| EssayDraft(essay.draft) };
        interrupt after shout if |rounds: &u32| *rounds > 3;
    }
}

/// The tools.
#[must_use]
pub fn tools() -> ToolSet {
    tools![search]
}

#[deprecated = "another state"]
#[allow(missing_docs)]
#[state]
#[derive(Debug)]
pub struct Old {
    #[key(input)]
    pub topic: String,
    #[deprecated = "not used"]
    #[key(input)]
    pub draft: String,
}

/// An old node.
#[deprecated = "another node"]
#[allow(deprecated)]
#[node(Old, spawn)]
pub async fn old(topic: &str, draft: &str) -> OldDraft {
    OldDraft(format!("{topic}{draft}"))
}

/// Which old way.
#[deprecated = "another route"]
#[derive(Clone, Copy, Debug, Route)]
pub enum OldWay {
    /// Left.
    Left,
    /// Right.
    #[deprecated = "left"]
    Right,
}

/// Chooses.
#[allow(deprecated)]
#[node(Old)]
pub async fn each_way() -> OldWay {
    OldWay::Left
}

#[deprecated = "another tool"]
#[tool]
/// An old tool.
pub async fn old_tool(query: String) -> String {
    query
}

flow! {
    #[deprecated = "another flow"]
    /// An old flow.
    pub OldFlow(Old) {
        START -> other -> each_way -> match { Left => old, Right => END };
        node other = old;
    }
}

/// A flow over what is deprecated.
#[allow(deprecated)]
pub mod allowed {
    use super::*;
    flow! {
        /// Allowed by the module.
        pub AllowedAround(Old) { old }
    }
}

flow! {
    /// Allowed on the flow.
    #[allow(deprecated)]
    pub Allowed(Old) { old }
}

flow! {
    /// Expected on the flow.
    #[expect(deprecated)]
    pub Expected(Old) { old }
}

/// A node over a deprecated state.
#[expect(deprecated)]
#[node(Old)]
pub async fn new(old: &Old) -> OldDraft {
    OldDraft(old.topic.clone())
}

fn main() {}
