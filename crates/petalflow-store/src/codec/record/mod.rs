//! The contents of a checkpoint. `docs/reference/checkpoint-format.md` describes the layout: change both together, and the
//! version with them.
#![allow(
    missing_docs,
    reason = "`docs/reference/checkpoint-format.md` describes the fields"
)]

mod decision;
mod read;
mod write;

use std::fmt;
use std::sync::Arc;

use crate::codec::Outline;

pub use decision::DecisionKind;

/// The version of the layout, in the first byte.
const VERSION: u8 = 3;

/// The bits of the second byte.
mod flag {
    /// The code of the cause.
    pub(super) const CAUSE: u8 = 0b0000_0111;
    /// The checkpoint has the program, and does not take it from its base. Names are texts unless it has the outline.
    pub(super) const PROGRAM: u8 = 0b0000_1000;
    /// The fields that most checkpoints have in common are left out.
    pub(super) const PLAIN: u8 = 0b0001_0000;
    /// The frontier is one task without an item, and only its node is stored.
    pub(super) const ONE_TASK: u8 = 0b0010_0000;
    /// The superstep is stored as its distance to the number of the checkpoint.
    pub(super) const NEAR: u8 = 0b0100_0000;
    /// There is one key, and no list.
    pub(super) const ONE_KEY: u8 = 0b1000_0000;
}

/// How far the superstep may be from the number of the checkpoint to be stored as a distance, in one number with the turn.
const NEAR_DISTANCES: u64 = 4;

/// The largest number of a checkpoint or a superstep: the largest that all stores can keep.
const MAX_NUMBER: u64 = i64::MAX as u64;

/// In the place of a superstep that has less room: it follows.
const FAR: u64 = NEAR_DISTANCES - 1;

/// Kinds of keys in storage whose first bytes are left out: one write that is not an overwrite, of a list of one item and of any other
/// value.
const SHORT_KINDS: [(u8, &[u8]); 2] = [(4, &[0x91, 0x92, 0xc2, 0x91]), (3, &[0x91, 0x92, 0xc2])];

/// How many kinds of keys there are in storage. A known key is stored as its index times this, plus its kind.
const KEY_CODES: u64 = 8;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A run began with an input: a new thread, or a new turn.
    #[default]
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

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Input => "input",
            Cause::Superstep => "superstep",
            Cause::Update => "update",
            Cause::Fork => "fork",
            Cause::Rejected => "rejected",
        })
    }
}

impl Cause {
    const ALL: [Self; 5] = [
        Cause::Input,
        Cause::Superstep,
        Cause::Update,
        Cause::Fork,
        Cause::Rejected,
    ];

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
pub enum KeyKind {
    /// The value.
    Value,
    /// Writes that fold into the earlier value.
    Delta,
    /// The key has lost its value.
    Unset,
    /// The key has a value that is not stored.
    Lost,
}

impl KeyKind {
    const ALL: [Self; 4] = [
        KeyKind::Value,
        KeyKind::Delta,
        KeyKind::Unset,
        KeyKind::Lost,
    ];

    fn code(self) -> u8 {
        match self {
            KeyKind::Value => 0,
            KeyKind::Delta => 1,
            KeyKind::Unset => 2,
            // 3 and 4 are short forms of `Delta`.
            KeyKind::Lost => 5,
        }
    }
}

/// A key in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry<'a> {
    pub id: &'a str,
    pub kind: KeyKind,
    pub bytes: &'a [u8],
}

/// A decoded key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedKey {
    pub id: String,
    pub kind: KeyKind,
    pub bytes: Vec<u8>,
}

/// A task in a record: the stored name of its node, its index among the items that were sent to the node, and its item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskEntry {
    pub node: String,
    pub send: Option<u32>,
    pub item: Option<Vec<u8>>,
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
#[non_exhaustive]
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

impl DecisionRecord {
    /// A decision without a name and a reason.
    #[doc(hidden)]
    pub fn new(node: String, decision: DecisionKind, at_ms: u64) -> Self {
        DecisionRecord {
            node,
            decision,
            by: None,
            reason: None,
            at_ms,
        }
    }
}

/// An answer in a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerEntry {
    pub id: [u8; 16],
    pub name: String,
    pub bytes: Vec<u8>,
}

impl TaskEntry {
    /// Whether only the node says which task it is.
    fn is_bare(&self) -> bool {
        self.send.is_none() && self.item.is_none()
    }
}

/// All of a checkpoint except its keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub flow: Arc<str>,
    /// Distinguishes the thread from earlier ones with the same id. Zero if no thread had been deleted when it began.
    pub incarnation: u64,
    pub graph: u64,
    pub version: u32,
    pub schema: u64,
    pub cause: Cause,
    pub parent: Option<u64>,
    /// Identifies the frontier: the ids of its tasks contain it, and their writes are stored beside it.
    pub origin: u64,
    pub turn: u64,
    pub superstep: u64,
    /// The task of the parent flow for which this flow runs.
    pub owner: Option<[u8; 16]>,
    pub frontier: Vec<TaskEntry>,
    pub deferred: Vec<TaskEntry>,
    /// The joins at which some sides have arrived: the name of the join, and those sides.
    pub joins: Vec<(String, Vec<String>)>,
    /// The nodes of the last superstep after which the run waits for a person.
    pub interrupt_points: Vec<String>,
    /// The answers and decisions of people in this superstep.
    pub answers: Vec<AnswerEntry>,
    pub notes: Vec<DecisionRecord>,
    pub outline: Option<Outline>,
}

/// A decoded checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub header: Header,
    pub keys: Vec<OwnedKey>,
}

#[cfg(test)]
mod tests;
