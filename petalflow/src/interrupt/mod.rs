//! Questions to people: what a run waits for, and what they answer.

mod answer;
mod approval;
mod ask;
mod resume;

// `#[inline]` means here, as in `petalflow-graph`: compiled where it is called. Few programs ask people.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::TaskId;
use crate::checkpoint::{Bytes, CodecError, Unpack, decode, unpack};

pub use answer::Answer;
pub use approval::Approval;
pub(crate) use approval::Decision;
pub use ask::{Ask, Expiry};
pub use petalflow_macros::Ask;
pub use resume::Resume;

pub use crate::flow::Guard;

/// Names a question within a thread: the same for as long as it waits, so that an answer can be addressed to it.
///
/// ```
/// use petalflow::interrupt::{Approval, InterruptId, Resume};
/// # use petalflow::checkpoint::MemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&MemoryStore::new()).thread("post");
/// # let paused = thread.run("hello".to_string()).await?;
/// // Kept in a link in a mail, say.
/// let kept = paused.interrupts()[0].id.to_bytes();
/// let id = InterruptId::from_bytes(kept);
/// thread.resume(Resume::new().decide(id, Approval::approve())).await?.finished()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterruptId(TaskId);

/// Something a run waits for.
///
/// ```
/// use petalflow::interrupt::InterruptKind;
/// # use petalflow::checkpoint::MemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&MemoryStore::new()).thread("post");
/// # let paused = thread.run("hello".to_string()).await?;
/// let interrupt = &paused.interrupts()[0];
/// assert_eq!((interrupt.node.as_str(), &interrupt.kind), ("publish", &InterruptKind::Before));
/// assert_eq!(interrupt.to_string(), "node `publish` waits for an approval before it runs");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interrupt {
    /// Names it: answers are addressed to this.
    pub id: InterruptId,
    /// The node that asks, or before or after which the run stopped.
    pub node: String,
    /// Where that node stands among flows within flows; empty at the top.
    pub namespace: String,
    /// The item's index, where the node is the target of `each`.
    pub index: Option<usize>,
    /// What is asked.
    pub kind: InterruptKind,
    /// When it was asked first, in milliseconds since 1970 (UTC).
    pub asked_ms: u64,
    /// From when on the question is answered by its own default, in milliseconds since 1970 (UTC).
    pub expires_ms: Option<u64>,
    /// Whether the node chooses where the run goes on, so that it cannot be skipped.
    pub(crate) chooses: bool,
}

/// What a run waits for.
///
/// ```
/// use petalflow::interrupt::InterruptKind;
/// # use petalflow::checkpoint::MemoryStore;
/// # use petalflow::interrupt::Ask;
/// # use petalflow::prelude::*;
/// # #[derive(serde::Serialize, serde::Deserialize, Ask)]
/// # #[ask(answer = bool)]
/// # struct MayPay { euros: u32 }
/// # #[state]
/// # struct Refund { paid: bool }
/// # #[node(Refund)]
/// # async fn pay(cx: Context) -> petalflow::Result<RefundPaid> { Ok(RefundPaid(cx.ask(MayPay { euros: 7 }).await?)) }
/// # flow!(PayRefund(Refund) { pay });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = PayRefund::new().store(&MemoryStore::new()).thread("refund");
/// # let paused = thread.run(()).await?;
/// match &paused.interrupts()[0].kind {
///     InterruptKind::Ask { name, question } => {
///         assert_eq!((name.as_str(), &question["euros"]), ("MayPay", &7.into()));
///     }
///     other => panic!("a question, not {other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterruptKind {
    /// An answer to a question that a node asked.
    Ask {
        /// The name of the question's type: [`Ask::NAME`].
        name: String,
        /// The question, for whoever shows it.
        question: serde_json::Value,
    },
    /// An approval before the node runs.
    Before,
    /// An approval of what the node did.
    After,
}

/// What is wrong with a stored interrupt.
const ID: &str = "an interrupt's id has 16 bytes";
const KIND: &str = "an interrupt of an unknown kind";
/// The number in storage of an interrupt before a node that chooses where the run goes on.
const CHOOSES: u8 = 3;

impl InterruptKind {
    /// The kind of this number in storage, with its question.
    #[inline]
    fn of(kind: u8, question: Option<(String, serde_json::Value)>) -> Option<Self> {
        match (kind, question) {
            (0, Some((name, question))) => Some(InterruptKind::Ask { name, question }),
            (1 | CHOOSES, None) => Some(InterruptKind::Before),
            (2, None) => Some(InterruptKind::After),
            _ => None,
        }
    }
}

impl InterruptId {
    /// The id of what a task asks under a key.
    #[inline]
    pub(crate) fn of(task: TaskId, key: &str) -> Self {
        InterruptId(TaskId::of(&[&task.to_bytes(), key.as_bytes()]))
    }

    /// The id as bytes, to be kept elsewhere.
    #[inline]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// The id of these bytes.
    #[inline]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        InterruptId(TaskId::from_bytes(bytes))
    }
}

impl fmt::Display for InterruptId {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for InterruptId {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InterruptId({self})")
    }
}

/// The id from its text, as a web page would send it back.
impl std::str::FromStr for InterruptId {
    type Err = String;

    #[inline]
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = digits
            .then(|| u128::from_str_radix(text, 16).ok())
            .flatten();
        id.map(|id| InterruptId(TaskId::from_bytes(id.to_be_bytes())))
            .ok_or_else(|| {
                format!("`{text}` is not the id of an interrupt: it has 32 hexadecimal digits")
            })
    }
}

impl Interrupt {
    /// Whether it is a question of the type `A`.
    pub fn asks<A: Ask>(&self) -> bool {
        matches!(&self.kind, InterruptKind::Ask { name, .. } if name == A::NAME)
    }

    /// The question, if it is one of the type `A`.
    pub fn question<A: Ask + serde::de::DeserializeOwned>(&self) -> Option<A> {
        match &self.kind {
            InterruptKind::Ask { name, question } if name == A::NAME => {
                A::deserialize(question).ok()
            }
            _ => None,
        }
    }

    /// The answer to a question of the type `A`.
    ///
    /// # Errors
    ///
    /// If this is no such question, or the answer cannot be stored.
    pub fn answer<A: Ask>(&self, answer: A::Answer) -> Result<Answer, AnswerError> {
        if !self.asks::<A>() {
            return Err(AnswerError::other_question(self, A::NAME));
        }
        Answer::new::<A>(self.id, &answer)
    }

    /// The interrupt of these bytes, which serde wrote.
    #[inline]
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        unpack(bytes, |from| {
            from.tuple(7)?;
            let id = from.bytes()?.try_into();
            let id = id.map_err(|_| CodecError::Decode(ID.into()))?;
            let (node, namespace) = (from.text()?, from.text()?);
            let index = from.option(Unpack::number)?;
            from.tuple(2)?;
            let kind: u8 = from.number()?;
            let question = from.option(|from| {
                from.tuple(2)?;
                Ok((from.text()?, decode(from.value()?)?))
            })?;
            Ok(Interrupt {
                id: InterruptId::from_bytes(id),
                node,
                namespace,
                index,
                kind: InterruptKind::of(kind, question)
                    .ok_or_else(|| CodecError::Decode(KIND.into()))?,
                asked_ms: from.number()?,
                expires_ms: from.option(Unpack::number)?,
                chooses: kind == CHOOSES,
            })
        })
    }

    /// What is asked, in a word.
    #[inline]
    pub(crate) fn what(&self) -> &str {
        match &self.kind {
            InterruptKind::Ask { name, .. } => name,
            InterruptKind::Before => "an approval before it runs",
            InterruptKind::After => "an approval of what it did",
        }
    }
}

impl fmt::Display for Interrupt {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}` waits for {}", self.node, self.what())
    }
}

/// Why an answer is not taken. Nothing has run, and the thread waits as before.
///
/// ```
/// use petalflow::interrupt::{Answer, AnswerError};
/// # use petalflow::checkpoint::MemoryStore;
/// # use petalflow::interrupt::Ask;
/// # use petalflow::prelude::*;
/// # #[derive(serde::Serialize, serde::Deserialize, Ask)]
/// # #[ask(answer = bool)]
/// # struct MayPay { euros: u32 }
/// # #[state]
/// # struct Refund { paid: bool }
/// # #[node(Refund)]
/// # async fn pay(cx: Context) -> petalflow::Result<RefundPaid> { Ok(RefundPaid(cx.ask(MayPay { euros: 7 }).await?)) }
/// # flow!(PayRefund(Refund) { pay });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = PayRefund::new().store(&MemoryStore::new()).thread("refund");
/// # let paused = thread.run(()).await?;
/// let id = paused.interrupts()[0].id;
/// let error = Answer::from_json::<MayPay>(id, &"perhaps".into()).unwrap_err();
/// assert!(matches!(&error, AnswerError::Value(why) if why.starts_with("no answer to `MayPay`")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The thread does not wait for it.
    #[error("the thread does not wait for an answer to {id}; it waits for {}", open(.waiting))]
    Unknown {
        /// What was answered.
        id: InterruptId,
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The answer is to another question.
    #[error("{id} asks for `{expected}`, and the answer is one to `{found}`")]
    OtherQuestion {
        /// What was answered.
        id: InterruptId,
        /// What it asks for.
        expected: String,
        /// What the answer is to.
        found: String,
    },
    /// Several questions could be meant.
    #[error("the answer could be to any of {}; say which by its id", open(.waiting))]
    Ambiguous {
        /// What the thread waits for.
        waiting: Vec<Interrupt>,
    },
    /// The answer or the edit does not fit.
    #[error("{0}")]
    Value(String),
}

impl AnswerError {
    #[inline]
    fn other_question(interrupt: &Interrupt, found: &str) -> Self {
        AnswerError::OtherQuestion {
            id: interrupt.id,
            expected: interrupt.what().into(),
            found: found.into(),
        }
    }
}

impl From<CodecError> for AnswerError {
    #[inline]
    fn from(error: CodecError) -> Self {
        AnswerError::Value(error.to_string())
    }
}

/// Writes several, with commas between them.
pub(crate) fn write_all(interrupts: &[Interrupt], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (place, interrupt) in interrupts.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        write!(f, "{comma}{interrupt}")?;
    }
    Ok(())
}

/// What may be answered, with the ids to do so.
#[inline]
pub(crate) fn open(waiting: &[Interrupt]) -> String {
    if waiting.is_empty() {
        return "nothing".into();
    }
    let one = |interrupt: &Interrupt| {
        format!(
            "{} (node `{}`, {})",
            interrupt.id,
            interrupt.node,
            interrupt.what()
        )
    };
    waiting.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Serialize for Interrupt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = match &self.kind {
            InterruptKind::Ask { name, question } => (0u8, Some((name, question))),
            InterruptKind::Before if self.chooses => (CHOOSES, None),
            InterruptKind::Before => (1, None),
            InterruptKind::After => (2, None),
        };
        (
            Bytes(self.id.to_bytes()),
            &self.node,
            &self.namespace,
            self.index,
            kind,
            self.asked_ms,
            self.expires_ms,
        )
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Interrupt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        type Kind = (u8, Option<(String, serde_json::Value)>);
        let (Bytes(id), node, namespace, index, kind, asked_ms, expires_ms): (
            Bytes<Vec<u8>>,
            String,
            String,
            Option<usize>,
            Kind,
            u64,
            Option<u64>,
        ) = Deserialize::deserialize(deserializer)?;
        let chooses = kind.0 == CHOOSES;
        let id = id.try_into().map_err(|_| D::Error::custom(ID))?;
        let kind = InterruptKind::of(kind.0, kind.1).ok_or_else(|| D::Error::custom(KIND))?;
        Ok(Interrupt {
            id: InterruptId::from_bytes(id),
            node,
            namespace,
            index,
            kind,
            asked_ms,
            expires_ms,
            chooses,
        })
    }
}
