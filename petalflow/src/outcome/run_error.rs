//! The error of a run.

use std::any::Any;
use std::error::Error;
use std::time::SystemTime;

use super::{AnyPaused, Paused, RunErrorKind, ThreadError};
use crate::clock::from_ms;
use crate::erased::{EffectsBox, StateBox, effects_ref, into_state, state_ref};
use crate::error::{BoxError, NodeError, Panicked, message_with_sources};
use crate::ids::TaskId;
use crate::question::Interrupt;
use crate::state::{State, Update, WriteError};

/// Why a run did not finish.
///
/// [`state`](Self::state) is the state at the last barrier: everything that was committed before the run failed.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// #[derive(Debug)]
/// struct Essay {
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// #[node(Essay)]
/// async fn note() -> EssayNotes {
///     EssayNotes(vec!["begun".into()])
/// }
///
/// #[node(Essay)]
/// async fn fail() -> petalflow::Result<()> {
///     Err("out of ink".into())
/// }
///
/// flow!(Fail(Essay) { note -> fail });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Fail::run(()).await.unwrap_err();
/// assert_eq!(error.to_string(), "node `fail` failed in superstep 2: out of ink");
/// assert_eq!(error.state::<Essay>().unwrap().notes, ["begun"]);
/// # }
/// ```
pub struct RunError(pub(super) Box<Inner>);

pub(super) struct Inner {
    pub(super) kind: RunErrorKind,
    pub(super) flow: String,
    pub(super) superstep: u64,
    pub(super) source: Option<BoxError>,
    pub(super) retried: Vec<NodeError>,
    /// The failure of a node at the moment at which the run was cancelled.
    pub(super) failed: Option<NodeError>,
    /// What a message names in place of the node and the superstep.
    pub(super) subject: Option<String>,
    /// When the run continues although nobody answers, in milliseconds since 1970 (UTC).
    wakes_ms: Option<u64>,
    barrier: Option<LastBarrier>,
}

/// The state at the last barrier, and the writes of tasks that finished after it.
pub(crate) struct LastBarrier {
    pub(crate) state: StateBox,
    pub(crate) pending: Vec<(String, EffectsBox)>,
}

impl RunError {
    /// The error of a run that had no state yet.
    pub(crate) fn bare(kind: RunErrorKind, flow: &str, superstep: u64) -> Self {
        RunError(Box::new(Inner {
            kind,
            flow: flow.into(),
            superstep,
            source: None,
            retried: Vec::new(),
            failed: None,
            subject: None,
            wakes_ms: None,
            barrier: None,
        }))
    }

    pub(crate) fn with_source(mut self, source: Option<BoxError>) -> Self {
        self.0.source = source;
        self
    }

    pub(crate) fn new(
        kind: RunErrorKind,
        flow: &str,
        superstep: u64,
        source: Option<BoxError>,
        barrier: LastBarrier,
    ) -> Self {
        RunError(Box::new(Inner {
            kind,
            flow: flow.into(),
            superstep,
            source,
            retried: Vec::new(),
            failed: None,
            subject: None,
            wakes_ms: None,
            barrier: Some(barrier),
        }))
    }

    /// The error of a run whose thread could not be opened.
    pub(crate) fn of_thread(error: ThreadError, flow: &str) -> Self {
        RunError(Box::new(Inner {
            kind: RunErrorKind::Thread {
                problem: error.to_string(),
            },
            flow: flow.into(),
            superstep: 0,
            source: Some(error.into()),
            retried: Vec::new(),
            failed: None,
            subject: None,
            wakes_ms: None,
            barrier: None,
        }))
    }

    /// The error of a run whose input cannot be applied.
    pub(crate) fn of_input(error: WriteError, flow: &str) -> Self {
        let kind = RunErrorKind::Write {
            nodes: Vec::new(),
            problem: error.to_string(),
        };
        Self::bare(kind, flow, 0).with_source(Some(error.into()))
    }

    /// The error of a run that panicked in this superstep, or outside of its supersteps (0).
    pub(crate) fn panicked(panicked: Panicked, flow: &str, superstep: u64) -> Self {
        let message = panicked.message().into();
        Self::bare(RunErrorKind::Panic { message }, flow, superstep)
            .with_source(Some(panicked.into()))
    }

    /// The error of a run whose managed value could not be created.
    pub(crate) fn of_managed(name: &'static str, error: BoxError, flow: &str) -> Self {
        RunError(Box::new(Inner {
            kind: RunErrorKind::RestoreManaged {
                name,
                problem: message_with_sources(&*error),
            },
            flow: flow.into(),
            superstep: 0,
            source: Some(error),
            retried: Vec::new(),
            failed: None,
            subject: None,
            wakes_ms: None,
            barrier: None,
        }))
    }

    /// The error that ended the run, if there is one: that of a node, a reducer, a managed value or the thread. The message
    /// includes its text. If the run was cancelled at the moment at which a node failed, it is the error of that node.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { line: String }
    /// #[node(Log)]
    /// async fn read() -> petalflow::Result<LogLine> {
    ///     Ok(LogLine(String::from_utf8(vec![0xff])?))
    /// }
    ///
    /// flow!(Read(Log) { read });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Read::run(()).await.err().unwrap();
    /// assert!(error.get_ref().unwrap().is::<std::string::FromUtf8Error>());
    /// # }
    /// ```
    pub fn get_ref(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.0.source.as_deref()
    }

    /// Whether something outside of the nodes stopped the run.
    pub(crate) fn is_stop(&self) -> bool {
        use RunErrorKind::{Cancelled, Timeout};
        matches!(self.0.kind, Cancelled | Timeout { .. })
    }

    pub(crate) fn set_failed(&mut self, failed: Option<NodeError>) {
        self.0.failed = failed;
    }

    pub(crate) fn set_wakes_ms(&mut self, wakes_ms: Option<u64>) {
        self.0.wakes_ms = wakes_ms;
    }

    /// See [`wakes`](Self::wakes). In milliseconds since 1970 (UTC).
    pub(crate) fn wakes_ms(&self) -> Option<u64> {
        self.0.wakes_ms
    }

    pub(crate) fn set_retried(&mut self, retried: Vec<(TaskId, NodeError)>) {
        for (_, error) in retried {
            self.0.retried.push(error);
        }
    }

    /// If the run was cancelled or took too long: the failures of the nodes that it was about to try again. Empty for other errors.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # use petalflow::run::CancelToken;
    /// # #[state]
    /// # struct Nothing {}
    /// #[node(Nothing, retry = 9)]
    /// async fn connect(token: Managed<CancelToken>) -> petalflow::Result<()> {
    ///     token.cancel(); // From elsewhere, in real life.
    ///     Err("connection refused".into())
    /// }
    ///
    /// flow!(Connect(Nothing) { connect });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let token = CancelToken::new();
    /// let error = Connect::new().cancel_with(&token).manage(token.clone()).run(()).await.err().unwrap();
    /// assert_eq!(error.retried()[0].message, "connection refused");
    /// # }
    /// ```
    pub fn retried(&self) -> &[NodeError] {
        &self.0.retried
    }

    /// The error of the thread, if the run ended because of it.
    pub fn thread_error(&self) -> Option<&ThreadError> {
        let error = self.get_ref()?;
        let of_subflow = || error.downcast_ref::<RunError>()?.thread_error();
        error.downcast_ref().or_else(of_subflow)
    }

    /// What the run waits for, if it is paused.
    pub fn interrupts(&self) -> &[Interrupt] {
        match &self.0.kind {
            RunErrorKind::Interrupted { interrupts } => interrupts,
            _ => &[],
        }
    }

    /// When the run can continue although nobody answers, if it is paused and [sleeps](crate::Context::sleep): the end of the first
    /// of its sleeps, by the clock of the store.
    pub fn wakes(&self) -> Option<SystemTime> {
        self.0.wakes_ms.map(from_ms)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> &RunErrorKind {
        &self.0.kind
    }

    /// The name of the flow.
    pub fn flow(&self) -> &str {
        &self.0.flow
    }

    /// The superstep in which the run ended, from 1; 0 before the first.
    pub fn superstep(&self) -> u64 {
        self.0.superstep
    }

    /// Names what failed in the words of the program's users, for whom the nodes of the flow are an internal part. The
    /// message of a node's failure then has `subject` in place of the node and the superstep, or is the text of the node's
    /// error alone, if it names the subject itself.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { line: String }
    /// #[node(Log)]
    /// async fn read() -> petalflow::Result<LogLine> {
    ///     Err("no such file".into())
    /// }
    ///
    /// flow!(Read(Log) { read });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Read::run(()).await.unwrap_err();
    /// assert_eq!(error.to_string(), "node `read` failed in superstep 1: no such file");
    /// assert_eq!(error.with_subject("the log of today").to_string(), "the log of today: no such file");
    /// # }
    /// ```
    #[must_use]
    pub fn with_subject(mut self, subject: impl Into<String>) -> Self {
        self.0.subject = Some(subject.into());
        self
    }

    /// The node that failed, if one did.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// assert_eq!((error.node(), error.flow(), error.superstep()), (Some("fails"), "Fail", 2));
    /// # }
    /// ```
    pub fn node(&self) -> Option<&str> {
        match &self.0.kind {
            RunErrorKind::Node(error) => Some(&error.node),
            RunErrorKind::NoEdge { node, .. } => Some(node),
            _ => self.0.failed.as_ref().map(|error| &*error.node),
        }
    }

    /// The state at the last barrier, if `S` is the flow's state.
    pub fn state<S: State>(&self) -> Option<&S> {
        self.barrier_over::<S>()
            .map(|barrier| state_ref(&*barrier.state))
    }

    /// The writes of the nodes that finished in the failed superstep, in declaration order. They are not applied to the state.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// let pending: Vec<_> = error.pending::<Log>().collect();
    /// assert_eq!(pending[0].0, "works");
    /// assert_eq!(pending[0].1.of::<LogLines>().only().unwrap(), &["worked"]);
    /// # }
    /// ```
    pub fn pending<S: State>(&self) -> impl Iterator<Item = (&str, &Update<S>)> {
        self.barrier_over::<S>().into_iter().flat_map(|barrier| {
            barrier
                .pending
                .iter()
                .map(|(node, writes)| (node.as_str(), &effects_ref::<S>(&**writes).update))
        })
    }

    /// Takes the state at the last barrier out, if `S` is the flow's state.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # #[derive(Debug)]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn begin() -> LogLines {
    ///     LogLines(vec!["begun".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn works() -> LogLines {
    ///     LogLines(vec!["worked".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn fails() -> petalflow::Result<()> {
    ///     tokio::task::yield_now().await;
    ///     Err("out of ink".into())
    /// }
    ///
    /// flow!(Fail(Log) { START -> begin -> works & fails });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let error = Fail::run(()).await.err().unwrap();
    /// assert_eq!(error.into_state::<Log>().unwrap().lines, ["begun"]);
    /// # }
    /// ```
    pub fn into_state<S: State>(self) -> Option<S> {
        self.barrier_over::<S>()?;
        Some(into_state(self.0.barrier?.state))
    }

    /// The paused run, if that is what this is. Otherwise the error itself.
    pub(crate) fn into_paused<S: State>(self) -> Result<Paused<S>, Self> {
        let AnyPaused {
            state,
            interrupts,
            wakes_ms,
        } = self.into_paused_any()?;
        Ok(Paused {
            state: into_state(state),
            interrupts,
            wakes: wakes_ms.map(from_ms),
        })
    }

    /// The same, without the type of the state.
    pub(crate) fn into_paused_any(self) -> Result<AnyPaused, Self> {
        let interrupts = match &self.0.kind {
            RunErrorKind::Interrupted { interrupts } => interrupts.clone(),
            RunErrorKind::Sleeping { .. } => Vec::new(),
            _ => return Err(self),
        };
        let Inner {
            barrier, wakes_ms, ..
        } = *self.0;
        match barrier {
            Some(LastBarrier { state, .. }) => Ok(AnyPaused {
                state,
                interrupts,
                wakes_ms,
            }),
            None => unreachable!("a run that is paused has a state"),
        }
    }

    /// The last barrier, if the run was over this state.
    fn barrier_over<S: State>(&self) -> Option<&LastBarrier> {
        let barrier = self.0.barrier.as_ref()?;
        let state: &dyn Any = &*barrier.state;
        state.is::<S>().then_some(barrier)
    }
}
