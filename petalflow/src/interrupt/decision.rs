//! The decision of a person at an `interrupt before` or `interrupt after`.

use crate::checkpoint::DecisionKind;
use crate::error::BoxError;
use crate::node::{Effects, KeyWrites};
use crate::state::{State, Update};

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
    pub(crate) action: DecisionAction<S>,
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
}

/// The action.
pub(crate) enum DecisionAction<S: State> {
    /// The run resumes.
    Approve,
    /// The run ends.
    Reject,
    /// These writes are applied, then the run resumes.
    Edit(Box<Result<Update<S>, BoxError>>),
    /// The node is skipped, and the run resumes after it.
    Skip,
}

impl<S: State> Clone for Decision<S> {
    fn clone(&self) -> Self {
        let action = match &self.action {
            DecisionAction::Approve => DecisionAction::Approve,
            DecisionAction::Reject => DecisionAction::Reject,
            DecisionAction::Skip => DecisionAction::Skip,
            DecisionAction::Edit(edit) => DecisionAction::Edit(Box::new(match &**edit {
                Ok(update) => Ok(update.clone()),
                Err(error) => Err(error.to_string().into()),
            })),
        };
        Decision {
            action,
            by: self.by.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl_debug!([S: State] Decision<S>, |this| action = this.action, by = this.by, reason = this.reason);

impl<S: State> std::fmt::Debug for DecisionAction<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind().name())
    }
}

impl<S: State> DecisionAction<S> {
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
    fn new(action: DecisionAction<S>) -> Self {
        Decision {
            action,
            by: None,
            reason: None,
        }
    }

    /// Resumes the run.
    #[must_use]
    pub fn approve() -> Self {
        Decision::new(DecisionAction::Approve)
    }

    /// Ends the run with [`Rejected`](crate::run::RunErrorKind::Rejected).
    #[must_use]
    pub fn reject() -> Self {
        Decision::new(DecisionAction::Reject)
    }

    /// Skips the node: its outgoing edges fire as if it had written nothing. After a node, it is the same as
    /// [`approve`](Self::approve).
    #[must_use]
    pub fn skip() -> Self {
        Decision::new(DecisionAction::Skip)
    }

    /// Writes these values through the keys' reducers, then resumes the run.
    #[must_use]
    pub fn edit(writes: impl KeyWrites<S>) -> Self {
        Decision::new(DecisionAction::Edit(Box::new(update_of(writes))))
    }

    /// Sets who decided.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.by = Some(person.into());
        self
    }

    /// Sets the reason.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// The update of writes.
pub(crate) fn update_of<S: State>(writes: impl KeyWrites<S>) -> Result<Update<S>, BoxError> {
    let mut effects = Effects::default();
    writes.apply(&mut effects)?;
    Ok(effects.update)
}
