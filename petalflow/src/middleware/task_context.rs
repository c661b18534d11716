//! Task-local context that spawned work inherits.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{PoisonError, RwLock};

/// Context of the running task, such as a tracing span or a task-local value, that the work spawned by a node inherits:
/// `#[node(spawn)]` and `#[node(blocking)]` run their function on another task or thread, where it would be lost.
///
/// [`carry_task_context`] registers an implementation for the whole process.
///
/// ```
/// use petalflow::middleware::{CapturedContext, TaskContext, carry_task_context};
/// use petalflow::prelude::*;
///
/// tokio::task_local! {
///     static REQUEST: u64;
/// }
///
/// struct Request;
///
/// impl TaskContext for Request {
///     fn capture(&self) -> Option<Box<dyn CapturedContext>> {
///         let id = REQUEST.try_get().ok()?;
///         Some(Box::new(Captured(id)))
///     }
/// }
///
/// struct Captured(u64);
///
/// impl CapturedContext for Captured {
///     fn within(&self, work: &mut dyn FnMut()) {
///         REQUEST.sync_scope(self.0, work);
///     }
/// }
///
/// #[state]
/// struct Log {
///     request: u64,
/// }
///
/// #[node(Log, blocking)]
/// fn look() -> LogRequest {
///     LogRequest(REQUEST.get())
/// }
///
/// flow!(Look(Log) { look });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// carry_task_context(&Request);
/// assert_eq!(REQUEST.scope(7, Look::run(())).await?.request, 7);
/// # Ok(())
/// # }
/// ```
pub trait TaskContext: Send + Sync + 'static {
    /// Captures the context of the running task, if it has one. Called on the task that spawns.
    fn capture(&self) -> Option<Box<dyn CapturedContext>>;
}

/// A context that [`TaskContext::capture`] captured.
pub trait CapturedContext: Send + Sync + 'static {
    /// Calls `work` once within the context. Called on the thread of the spawned work: for each poll of a future, and
    /// once for a function.
    fn within(&self, work: &mut dyn FnMut());
}

static REGISTERED: RwLock<Vec<&'static dyn TaskContext>> = RwLock::new(Vec::new());

/// Registers a context for all work that nodes and tools spawn from now on, in the whole process. Call it once per
/// context: one that is registered twice is captured twice.
pub fn carry_task_context(context: &'static dyn TaskContext) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.push(context);
}

/// The captured contexts, the last registered outermost.
struct Captured(Vec<Box<dyn CapturedContext>>);

impl Captured {
    fn now() -> Self {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        Captured(
            registered
                .iter()
                .filter_map(|context| context.capture())
                .collect(),
        )
    }

    fn within<R>(&self, work: impl FnOnce() -> R) -> R {
        fn nest(contexts: &[Box<dyn CapturedContext>], work: &mut dyn FnMut()) {
            match contexts.split_last() {
                None => work(),
                Some((outermost, inner)) => outermost.within(&mut || nest(inner, work)),
            }
        }

        if self.0.is_empty() {
            return work();
        }
        let (mut work, mut result) = (Some(work), None);
        nest(&self.0, &mut || {
            if let Some(work) = work.take() {
                result = Some(work());
            }
        });
        result.expect("a captured context calls the work once")
    }
}

/// Wraps a future that is about to be spawned, so that it runs within the context of the current task.
pub(crate) fn in_current_context<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let context = Captured::now();
    async move {
        let mut work = pin!(work);
        poll_fn(|cx| context.within(|| work.as_mut().poll(cx))).await
    }
}

/// Wraps a function that is about to run on another thread, so that it runs within the context of the current task.
pub(crate) fn call_in_current_context<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let context = Captured::now();
    move || context.within(work)
}
