//! The decision of a person at an `interrupt before` or `interrupt after`.

use std::marker::PhantomData;

use super::Interrupt;
use crate::checkpoint::{DecisionKind, DecisionRecord};
use crate::clock::now_ms;
use crate::erased::EffectsBox;
use crate::error::BoxError;
use crate::node::{Effects, KeyWrites};
use crate::state::State;

/// A decision at an `interrupt before` or `interrupt after`, with its author and reason, which the thread's history
/// stores.
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
pub struct Decision<S: State> {
    pub(crate) any: AnyDecision,
    state: PhantomData<fn() -> S>,
}

/// A [`Decision`] without the type of the state.
#[derive(Clone)]
pub(crate) struct AnyDecision {
    pub(crate) action: DecisionAction,
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
}

/// The action.
pub(crate) enum DecisionAction {
    /// The run resumes.
    Approve,
    /// The run ends.
    Reject,
    /// These writes are applied, then the run resumes.
    Edit(Result<EffectsBox, BoxError>),
    /// The node is skipped, and the run resumes after it.
    Skip,
}

impl<S: State> Clone for Decision<S> {
    fn clone(&self) -> Self {
        Decision::new(self.any.clone())
    }
}

impl Clone for DecisionAction {
    fn clone(&self) -> Self {
        match self {
            DecisionAction::Approve => DecisionAction::Approve,
            DecisionAction::Reject => DecisionAction::Reject,
            DecisionAction::Skip => DecisionAction::Skip,
            DecisionAction::Edit(edit) => DecisionAction::Edit(match edit {
                Ok(writes) => Ok(writes.clone_writes()),
                Err(error) => Err(error.to_string().into()),
            }),
        }
    }
}

impl<S: State> std::fmt::Debug for Decision<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

impl std::fmt::Debug for AnyDecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decision")
            .field("action", &self.action)
            .field("by", &self.by)
            .field("reason", &self.reason)
            .finish()
    }
}

impl std::fmt::Debug for DecisionAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl AnyDecision {
    /// The decision about this approval, as the history stores it.
    pub(crate) fn record(&self, interrupt: &Interrupt) -> DecisionRecord {
        let kind = self.action.kind();
        let mut record = DecisionRecord::new(interrupt.node.clone(), kind, now_ms());
        record.by.clone_from(&self.by);
        record.reason.clone_from(&self.reason);
        record
    }
}

impl DecisionAction {
    /// The action without its writes, as the history stores it.
    pub(crate) fn kind(&self) -> DecisionKind {
        match self {
            DecisionAction::Approve => DecisionKind::Approved,
            DecisionAction::Reject => DecisionKind::Rejected,
            DecisionAction::Edit(_) => DecisionKind::Edited,
            DecisionAction::Skip => DecisionKind::Skipped,
        }
    }
}

impl<S: State> Decision<S> {
    fn new(any: AnyDecision) -> Self {
        Decision {
            any,
            state: PhantomData,
        }
    }

    fn of(action: DecisionAction) -> Self {
        Decision::new(AnyDecision {
            action,
            by: None,
            reason: None,
        })
    }

    /// Resumes the run.
    #[must_use]
    pub fn approve() -> Self {
        Decision::of(DecisionAction::Approve)
    }

    /// Ends the run with [`Rejected`](crate::run::RunErrorKind::Rejected).
    #[must_use]
    pub fn reject() -> Self {
        Decision::of(DecisionAction::Reject)
    }

    /// Skips the node: its outgoing edges fire as if it had written nothing. After a node, it is the same as
    /// [`approve`](Self::approve).
    #[must_use]
    pub fn skip() -> Self {
        Decision::of(DecisionAction::Skip)
    }

    /// Writes these values through the keys' reducers, then resumes the run.
    #[must_use]
    pub fn edit(writes: impl KeyWrites<S>) -> Self {
        Decision::of(DecisionAction::Edit(effects_of(writes)))
    }

    /// Sets who decided.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.any.by = Some(person.into());
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.any.reason = Some(reason.into());
        self
    }
}

/// The effects that writes have.
pub(super) fn effects_of<S: State>(writes: impl KeyWrites<S>) -> Result<EffectsBox, BoxError> {
    let mut effects = Effects::<S>::default();
    writes.apply(&mut effects)?;
    Ok(Box::new(effects))
}
