//! What a person says at an `interrupt before` or `interrupt after`.

use crate::error::BoxError;
use crate::node::{Effects, Output};
use crate::state::State;

/// A decision at an `interrupt before` or `interrupt after`, with who made it and why. Both are kept in the thread's history.
///
/// ```
/// use petalflow::interrupt::Approval;
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
/// let approval = Approval::edit(PostText("Hello".into())).by("Ann").because("a capital");
/// assert_eq!(thread.resume(approval).await?.finished()?.text, "Hello");
/// let history = thread.history(HistoryQuery::all()).await?;
/// let note = history.iter().find_map(|info| info.notes.first()).expect("who decided is kept");
/// assert_eq!((note.decision.as_str(), note.by.as_deref()), ("edited", Some("Ann")));
/// # Ok(())
/// # }
/// ```
pub struct Approval<S: State> {
    pub(crate) decision: Decision<S>,
    pub(crate) by: Option<String>,
    pub(crate) reason: Option<String>,
}

/// What was decided.
pub(crate) enum Decision<S: State> {
    /// The run goes on.
    Approve,
    /// The run ends here.
    Reject,
    /// These writes are applied first, then the run goes on.
    Edit(Box<Result<S::Update, BoxError>>),
    /// The node does not run; the run goes on behind it.
    Skip,
}

impl<S: State> Clone for Approval<S> {
    fn clone(&self) -> Self {
        let decision = match &self.decision {
            Decision::Approve => Decision::Approve,
            Decision::Reject => Decision::Reject,
            Decision::Skip => Decision::Skip,
            Decision::Edit(edit) => Decision::Edit(Box::new(match &**edit {
                Ok(update) => Ok(update.clone()),
                Err(error) => Err(error.to_string().into()),
            })),
        };
        Approval {
            decision,
            by: self.by.clone(),
            reason: self.reason.clone(),
        }
    }
}

impl<S: State> std::fmt::Debug for Approval<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approval")
            .field("decision", &self.decision)
            .field("by", &self.by)
            .field("reason", &self.reason)
            .finish()
    }
}

impl<S: State> std::fmt::Debug for Decision<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}

impl<S: State> Decision<S> {
    /// The decision in a word, as the history has it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Decision::Approve => "approved",
            Decision::Reject => "rejected",
            Decision::Edit(_) => "edited",
            Decision::Skip => "skipped",
        }
    }
}

impl<S: State> Approval<S> {
    fn new(decision: Decision<S>) -> Self {
        Approval {
            decision,
            by: None,
            reason: None,
        }
    }

    /// The run goes on.
    #[must_use]
    pub fn approve() -> Self {
        Approval::new(Decision::Approve)
    }

    /// The run ends, with [`Rejected`](crate::RunErrorKind::Rejected).
    #[must_use]
    pub fn reject() -> Self {
        Approval::new(Decision::Reject)
    }

    /// The node does not run: the edges out of it fire as if it had written nothing. After a node it is the same as
    /// [`approve`](Self::approve).
    #[must_use]
    pub fn skip() -> Self {
        Approval::new(Decision::Skip)
    }

    /// What a node could return is written first, through the keys' reducers; then the run goes on.
    #[must_use]
    pub fn edit(writes: impl Output<S>) -> Self {
        Approval::new(Decision::Edit(Box::new(update_of(writes))))
    }

    /// Who decided.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.by = Some(person.into());
        self
    }

    /// Why.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// The writes of something that a node could return.
pub(crate) fn update_of<S: State>(writes: impl Output<S>) -> Result<S::Update, BoxError> {
    let mut effects = Effects::default();
    writes.apply(&mut effects)?;
    Ok(effects.update)
}
