//! The contents of a checkpoint. `docs/reference/checkpoint-format.md` describes the layout: change both together, and the
//! version with them.

mod decision;
mod read;
mod write;

use std::sync::Arc;

use super::outline::Outline;

pub use decision::DecisionKind;

/// The version of the layout, in the first byte.
const VERSION: u8 = 2;

/// Why a checkpoint was created.
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
    /// A run began with an input: a new thread, or a new turn.
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

/// How a key is stored in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// The value.
    Value,
    /// Writes that fold into the earlier value.
    Delta,
    /// The key has lost its value.
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

/// A decoded key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedKey {
    pub(crate) id: String,
    pub(crate) kind: KeyKind,
    pub(crate) bytes: Vec<u8>,
}

/// A task in a record: the stored name of its node, its index among the items that were sent to the node, and its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskEntry {
    pub(crate) node: String,
    pub(crate) send: Option<u32>,
    pub(crate) item: Option<Vec<u8>>,
}

/// A decision of a person, as the history of a thread has it.
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
/// let note = history.iter().find_map(|info| info.notes.first()).expect("the decision is recorded");
/// assert_eq!((note.decision, note.by.as_deref()), (DecisionKind::Edited, Some("Ann")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRecord {
    /// The node, by the name that it had at that time. Empty for the run as a whole.
    pub node: String,
    /// What was decided.
    pub decision: DecisionKind,
    /// Who decided, if stated.
    pub by: Option<String>,
    /// Why, if stated.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
}

/// An answer in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerEntry {
    pub(crate) id: [u8; 16],
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// All of a checkpoint except its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flow: Arc<str>,
    pub(crate) graph: u64,
    pub(crate) version: u32,
    pub(crate) schema: u64,
    pub(crate) cause: Cause,
    pub(crate) parent: Option<u64>,
    /// Identifies the frontier: the ids of its tasks contain it, and their writes are stored beside it.
    pub(crate) origin: u64,
    pub(crate) turn: u64,
    pub(crate) superstep: u64,
    /// The task of the parent flow for which this flow runs.
    pub(crate) owner: Option<[u8; 16]>,
    pub(crate) frontier: Vec<TaskEntry>,
    pub(crate) deferred: Vec<TaskEntry>,
    /// The joins at which some sides have arrived: the name of the join, and those sides.
    pub(crate) joins: Vec<(String, Vec<String>)>,
    /// The nodes of the last superstep after which the run waits for a person.
    pub(crate) gates: Vec<String>,
    /// The answers and decisions of people in this superstep.
    pub(crate) answers: Vec<AnswerEntry>,
    pub(crate) notes: Vec<DecisionRecord>,
    pub(crate) outline: Option<Outline>,
}

/// A decoded checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) keys: Vec<OwnedKey>,
}

#[cfg(test)]
mod tests;
