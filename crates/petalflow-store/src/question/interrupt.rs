//! Interrupts: what a run waits for.

use std::fmt;

use super::{Ask, InterruptId};
use crate::clock::now_ms;
use crate::codec::{CodecError, RawValue, Unpack, pack, unpack};

/// A question or an approval that a run waits for.
///
/// ```
/// use petalflow::interrupt::InterruptKind;
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
/// let interrupt = &paused.interrupts()[0];
/// assert_eq!((interrupt.node.as_str(), &interrupt.kind), ("publish", &InterruptKind::Before));
/// assert_eq!(interrupt.to_string(), "node `publish` waits for an approval before it runs");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interrupt {
    /// Its id, which an answer names.
    pub id: InterruptId,
    /// The node that asks, or before or after which the run has stopped.
    pub node: String,
    /// The namespace of the flow with this node. Empty for the outermost flow.
    pub namespace: String,
    /// The index of the item, if the node is the target of `each`.
    pub index: Option<usize>,
    /// What the run waits for.
    pub kind: InterruptKind,
    /// When it was first asked, in milliseconds since 1970 (UTC).
    pub asked_ms: u64,
    /// When the question expires and gets its default answer, in milliseconds since 1970 (UTC).
    pub expires_ms: Option<u64>,
    /// The type of the answer to a question, as the program that asks names it.
    #[doc(hidden)]
    pub answer_type: String,
    /// Whether the node chooses a route, so that it cannot be skipped.
    #[doc(hidden)]
    pub chooses: bool,
    /// Its position among those that the run waits for.
    #[doc(hidden)]
    pub position: u32,
}

/// The kinds of [`Interrupt`].
///
/// ```
/// use petalflow::interrupt::InterruptKind;
/// # use petalflow::checkpoint::InMemoryStore;
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
/// # let thread = PayRefund::new().store(&InMemoryStore::new()).thread("refund");
/// # let paused = thread.run(()).await?;
/// match &paused.interrupts()[0].kind {
///     InterruptKind::Ask { name, question } => {
///         assert_eq!((name.as_str(), question.to_string()), ("MayPay", r#"{"euros":7}"#.into()));
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
        /// The question, to show it.
        question: RawValue,
    },
    /// An approval before the node runs.
    Before,
    /// An approval after the node has run.
    After,
}

/// The stored number of an interrupt before a node that chooses a route.
const CHOOSES: u8 = 3;

impl InterruptKind {
    /// The kind with this stored number, and its question.
    fn of(kind: u8, question: Option<(String, RawValue)>) -> Option<Self> {
        match (kind, question) {
            (0, Some((name, question))) => Some(InterruptKind::Ask { name, question }),
            (1 | CHOOSES, None) => Some(InterruptKind::Before),
            (2, None) => Some(InterruptKind::After),
            _ => None,
        }
    }
}

impl Interrupt {
    /// One that begins now, and that nothing else is known of.
    #[doc(hidden)]
    pub fn new(id: InterruptId, node: &str, namespace: &str, kind: InterruptKind) -> Self {
        Interrupt {
            id,
            node: node.into(),
            namespace: namespace.into(),
            index: None,
            kind,
            asked_ms: now_ms(),
            expires_ms: None,
            answer_type: String::new(),
            chooses: false,
            position: 0,
        }
    }

    /// Whether this is a question of the type `A`.
    pub fn asks<A: Ask>(&self) -> bool {
        matches!(&self.kind, InterruptKind::Ask { name, .. } if name == A::NAME)
    }

    /// The question, if it has the type `A`.
    pub fn question<A: Ask + serde_core::de::DeserializeOwned>(&self) -> Option<A> {
        match &self.kind {
            InterruptKind::Ask { name, question } if name == A::NAME => question.decode().ok(),
            _ => None,
        }
    }

    /// Encodes an interrupt.
    #[doc(hidden)]
    pub fn encode(&self, out: &mut Vec<u8>) {
        let (kind, question) = match &self.kind {
            InterruptKind::Ask { name, question } => (0, Some((name, question))),
            InterruptKind::Before if self.chooses => (CHOOSES, None),
            InterruptKind::Before => (1, None),
            InterruptKind::After => (2, None),
        };
        let optional =
            |number: Option<u64>, out: &mut Vec<u8>| pack::option(number, out, pack::number);
        pack::array(8, out);
        pack::bytes(&self.id.to_bytes(), out);
        pack::text(&self.node, out);
        pack::text(&self.namespace, out);
        optional(self.index.map(|index| index as u64), out);
        pack::array(2, out);
        pack::number(kind.into(), out);
        match question {
            None => pack::nil(out),
            Some((name, question)) => {
                pack::array(3, out);
                pack::text(name, out);
                out.extend_from_slice(question.bytes());
                pack::text(&self.answer_type, out);
            }
        }
        pack::number(self.asked_ms, out);
        optional(self.expires_ms, out);
        pack::number(self.position.into(), out);
    }

    /// Decodes an interrupt.
    #[doc(hidden)]
    pub fn decode(bytes: &[u8]) -> Result<Self, CodecError> {
        unpack(bytes, |from| {
            from.tuple(8)?;
            let id = from.bytes()?.try_into();
            let id = id.map_err(|_| {
                CodecError::Decode("the id of an interrupt does not have 16 bytes".into())
            })?;
            let (node, namespace) = (from.text()?, from.text()?);
            let index = from.option(Unpack::number)?;
            from.tuple(2)?;
            let kind: u8 = from.number()?;
            let mut answer_type = String::new();
            let question = from.option(|from| {
                from.tuple(3)?;
                let question = (from.text()?, RawValue::from_bytes(from.value()?.into()));
                answer_type = from.text()?;
                Ok(question)
            })?;
            Ok(Interrupt {
                id: InterruptId::from_bytes(id),
                node,
                namespace,
                index,
                kind: InterruptKind::of(kind, question)
                    .ok_or_else(|| CodecError::Decode("an interrupt has an unknown kind".into()))?,
                asked_ms: from.number()?,
                expires_ms: from.option(Unpack::number)?,
                answer_type,
                chooses: kind == CHOOSES,
                position: from.number()?,
            })
        })
    }

    /// A few words for what the run waits for.
    #[doc(hidden)]
    pub fn what(&self) -> &str {
        match &self.kind {
            InterruptKind::Ask { name, .. } => name,
            InterruptKind::Before => "an approval before it runs",
            InterruptKind::After => "an approval of what it did",
        }
    }
}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node `{}` waits for {}", self.node, self.what())
    }
}

/// Several interrupts as one text.
#[doc(hidden)]
pub fn list_as_text(interrupts: &[Interrupt]) -> String {
    comma_separated(interrupts.iter().map(ToString::to_string))
}

/// Texts with commas between them. Small, because every program compiles it; `join` is not.
#[doc(hidden)]
pub fn comma_separated(texts: impl Iterator<Item = String>) -> String {
    let mut all = String::new();
    for text in texts {
        let comma = if all.is_empty() { "" } else { ", " };
        all.push_str(comma);
        all.push_str(&text);
    }
    all
}
