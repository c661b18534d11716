//! What a checkpoint's bytes hold. The layout is described in `docs/reference/checkpoint-format.md`; change both together, and the
//! version with them.

mod decision;
mod read;
mod write;

use std::sync::Arc;

pub use decision::DecisionKind;

/// The version of the layout, in the first byte.
const VERSION: u8 = 1;

/// Why a checkpoint was made.
///
/// ```
/// use petalflow::checkpoint::Cause;
/// use petalflow::thread::HistoryQuery;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let begun = thread.history(HistoryQuery::all().cause(Cause::Input).limit(10)).await?;
/// assert_eq!((begun.len(), begun[0].turn), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A run began: a new thread, or a new turn of one.
    Input,
    /// A superstep was committed.
    Superstep,
    /// The state was changed from outside.
    Update,
    /// An older checkpoint became the newest again, or the thread is a copy of another.
    Fork,
    /// A person ended the run by a rejection.
    Rejected,
}

impl Cause {
    const ALL: [Self; 5] = [
        Cause::Input,
        Cause::Superstep,
        Cause::Update,
        Cause::Fork,
        Cause::Rejected,
    ];

    #[inline]
    fn code(self) -> u8 {
        match self {
            Cause::Input => 0,
            Cause::Superstep => 1,
            Cause::Update => 2,
            Cause::Fork => 3,
            Cause::Rejected => 4,
        }
    }
}

/// How a key stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// The value.
    Value,
    /// Writes that fold into the value before.
    Delta,
    /// The key has no value any more.
    Unset,
}

impl KeyKind {
    const ALL: [Self; 3] = [KeyKind::Value, KeyKind::Delta, KeyKind::Unset];

    #[inline]
    fn code(self) -> u8 {
        match self {
            KeyKind::Value => 0,
            KeyKind::Delta => 1,
            KeyKind::Unset => 2,
        }
    }
}

/// A key in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyEntry<'a> {
    pub(crate) id: &'a str,
    pub(crate) kind: KeyKind,
    pub(crate) bytes: &'a [u8],
}

/// A key as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedKey {
    pub(crate) id: String,
    pub(crate) kind: KeyKind,
    pub(crate) bytes: Vec<u8>,
}

/// A task in a record: the node by its name, its place among what was sent to it, and what was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskEntry {
    pub(crate) node: String,
    pub(crate) send: Option<u32>,
    pub(crate) item: Option<Vec<u8>>,
}

/// A decision by a person, kept in the history.
///
/// ```
/// use petalflow::checkpoint::DecisionKind;
/// use petalflow::interrupt::Decision;
/// use petalflow::thread::HistoryQuery;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
/// # let paused = thread.run("hello".to_string()).await?;
/// # let _ = paused;
/// let approval = Decision::edit(PostText("Hello".into())).by("Ann").because("a capital");
/// assert_eq!(thread.resume(approval).await?.into_finished()?.text, "Hello");
/// let history = thread.history(HistoryQuery::all()).await?;
/// let note = history.iter().find_map(|info| info.notes.first()).expect("who decided is kept");
/// assert_eq!((note.decision, note.by.as_deref()), (DecisionKind::Edited, Some("Ann")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecisionRecord {
    /// The node it was about, by the name that it had then; empty for the run as a whole.
    pub node: String,
    /// What was decided.
    pub decision: DecisionKind,
    /// Who decided, as far as was said.
    pub by: Option<String>,
    /// Why, as far as was said.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
}

/// What a changed program is compared with: in checkpoints that stand alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The nodes and edges, a line each.
    pub(crate) graph: Vec<String>,
    /// The keys, a line each.
    pub(crate) schema: Vec<String>,
}

/// An answer in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerEntry {
    pub(crate) id: [u8; 16],
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// All of a checkpoint but its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flow: Arc<str>,
    pub(crate) graph: u64,
    pub(crate) version: u32,
    pub(crate) schema: u64,
    pub(crate) cause: Cause,
    pub(crate) parent: Option<u64>,
    /// Names the frontier: tasks are hashed with it, and what they leave is stored beside it.
    pub(crate) origin: u64,
    pub(crate) turn: u64,
    pub(crate) superstep: u64,
    /// The task of the flow above for which this flow runs.
    pub(crate) owner: Option<[u8; 16]>,
    pub(crate) frontier: Vec<TaskEntry>,
    pub(crate) deferred: Vec<TaskEntry>,
    /// Joins that hold an arrival: the join, and the sides that have arrived.
    pub(crate) joins: Vec<(String, Vec<String>)>,
    /// Nodes of the last superstep after which a person is asked.
    pub(crate) gates: Vec<String>,
    /// What people have answered in this superstep: by question, its name and the answer.
    pub(crate) answers: Vec<AnswerEntry>,
    pub(crate) notes: Vec<DecisionRecord>,
    pub(crate) outline: Option<Outline>,
}

/// A checkpoint as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) keys: Vec<OwnedKey>,
}

#[cfg(test)]
mod tests;
