//! The handle to the run that a node can take as a parameter.

use std::future::{Future, poll_fn};
use std::sync::Arc;

use super::test_records::TestRecords;
use super::{IntoBoxError, Scope};
use crate::cancel_token::RunToken;
use crate::error::BoxError;
use crate::event::{CustomEvent, Origin};
use crate::future::BoxFuture;
use crate::ids::{Namespace, TaskId};
use crate::question::Ask;
use crate::state::Recordable;
use crate::task_services::{NAME_OF_EFFECT, check_name, outlived_error, used_twice};

/// A handle to the run: the by-value parameter `cx: Context` of a node.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Log {
///     #[key(append)]
///     lines: Vec<String>,
/// }
///
/// #[node(Log)]
/// async fn greet(cx: Context) -> LogLines {
///     LogLines(vec![format!("{} in superstep {}", cx.node(), cx.superstep())])
/// }
///
/// flow!(Greet(Log) { greet });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Greet::run(()).await?.lines, ["greet in superstep 1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Context(pub(crate) Scope);

impl Scope {
    /// The [`Context`] of this task.
    pub fn context(&self) -> Context {
        Context(self.clone())
    }
}

impl From<Context> for Scope {
    fn from(cx: Context) -> Self {
        cx.0
    }
}

impl From<&Context> for Scope {
    fn from(cx: &Context) -> Self {
        cx.0.clone()
    }
}

impl Context {
    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.0.node()
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.0.superstep
    }

    /// How many supersteps are left after this one, until the run's limit.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn work(cx: Context) -> (LogLines, bool) {
    ///     // Stops by itself rather than at the limit.
    ///     (LogLines(vec!["worked".into()]), cx.remaining_supersteps() > 0)
    /// }
    ///
    /// flow!(Work(Log) { work -> match { true => work, false => END } });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Work::new().limit(3).run(()).await?.lines.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remaining_supersteps(&self) -> u64 {
        self.0.shared.limit.saturating_sub(self.0.superstep)
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.0.attempt
    }

    /// The index of the item, if the node is the target of `each`.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn list() -> Each<String> {
    ///     Each(vec!["a".into(), "b".into()])
    /// }
    ///
    /// #[node(Log)]
    /// async fn visit(#[item] page: &str, cx: Context) -> LogLines {
    ///     LogLines(vec![format!("{page} is number {}", cx.index().unwrap())])
    /// }
    ///
    /// flow!(Visit(Log) { list -> each visit });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Visit::run(()).await?.lines, ["a is number 0", "b is number 1"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(&self) -> Option<usize> {
        self.0.index()
    }

    /// The namespace of this flow within its parent flows.
    pub fn namespace(&self) -> &Namespace {
        &self.0.shared.namespace
    }

    /// The id of this task, the same in every attempt.
    pub fn task_id(&self) -> TaskId {
        self.0.task_id()
    }

    /// The managed value of this type, if the run has one. To require it, take a parameter `Managed<T>` instead.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// struct Greeting(&'static str);
    ///
    /// #[node(Log)]
    /// async fn greet(cx: Context) -> LogLines {
    ///     let greeting = cx.managed::<Greeting>().map_or("hello", |greeting| greeting.0);
    ///     LogLines(vec![greeting.into()])
    /// }
    ///
    /// flow!(Greet(Log) { greet });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Greet::run(()).await?.lines, ["hello"]);
    /// assert_eq!(Greet::new().manage(Greeting("ahoy")).run(()).await?.lines, ["ahoy"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn managed<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.0.managed()?.get()
    }

    /// Whether the run was cancelled. A node that works for a long time without `.await` should check this.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use petalflow::run::{CancelToken, RunErrorKind};
    ///
    /// #[node(Log, blocking)]
    /// fn count(cx: Context, token: Managed<CancelToken>) {
    ///     let mut n = 0_u64;
    ///     while !cx.is_cancelled() {
    ///         n += 1;
    ///         if n == 1_000 {
    ///             token.cancel(); // From elsewhere, in real life.
    ///         }
    ///     }
    /// }
    ///
    /// #[node(Log)]
    /// async fn report() -> LogLines {
    ///     LogLines(vec!["counted".into()])
    /// }
    ///
    /// flow!(Count(Log) { count -> report });
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let token = CancelToken::new();
    /// let error = Count::new().cancel_with(&token).manage(token.clone()).run(()).await.err().unwrap();
    /// assert_eq!(*error.kind(), RunErrorKind::Cancelled);
    /// # }
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.0
            .shared
            .cancel
            .as_ref()
            .is_some_and(RunToken::is_cancelled)
    }

    /// Emits a value to the listener of the run's [events](crate::Run::events). It is also a
    /// [heartbeat](Self::heartbeat). Without a listener, the value is dropped.
    ///
    /// The listener reads the value with its type ([`CustomEvent::downcast_ref`]) or as JSON.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use futures_util::StreamExt;
    /// use petalflow::event::EventKind;
    ///
    /// #[node(Log)]
    /// async fn download(cx: Context) {
    ///     for percent in [50, 100] {
    ///         cx.emit(percent);
    ///     }
    /// }
    ///
    /// flow!(Download(Log) { download });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = Download::run(()).events();
    /// let mut shown = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     if let EventKind::Custom(event) = event.kind {
    ///         shown.extend(event.downcast_ref::<i32>().copied());
    ///     }
    /// }
    /// assert_eq!(shown, [50, 100]);
    /// # }
    /// ```
    pub fn emit(&self, value: impl Into<CustomEvent>) {
        self.emit_with(|| value);
    }

    /// Like [`emit`](Self::emit), for a value that is expensive to create: `make` is called only if the run has a
    /// listener.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// #[node(Log)]
    /// async fn download(cx: Context) {
    ///     cx.emit_with(|| format!("{} has begun", cx.node()));
    /// }
    ///
    /// flow!(Download(Log) { download });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # Download::run(()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn emit_with<E: Into<CustomEvent>>(&self, make: impl FnOnce() -> E) {
        self.heartbeat();
        if self.has_listener() {
            self.send(make().into());
        }
    }

    /// Waits until the listener has received all events of the run that were sent before. Without a listener, this completes at
    /// once.
    ///
    /// A listener can stop the run when it receives an event. A node that waits here does nothing before that.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use futures_util::StreamExt;
    ///
    /// #[node(Log)]
    /// async fn delete(cx: Context) -> LogLines {
    ///     cx.emit("about to delete everything");
    ///     cx.events_received().await;
    ///     panic!("the listener has stopped the run");
    /// }
    ///
    /// flow!(Delete(Log) { delete });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = Delete::run(()).events().custom();
    /// assert!(events.next().await.is_some());
    /// drop(events);
    /// # }
    /// ```
    pub async fn events_received(&self) {
        if let Some(listener) = &self.0.shared.listener {
            poll_fn(|cx| listener.poll_received(cx)).await;
        }
    }

    fn send(&self, event: CustomEvent) {
        if let Some(listener) = &self.0.shared.listener {
            let from = Origin {
                namespace: self.namespace().clone(),
                superstep: self.superstep(),
                task: Some(self.0.task_info()),
            };
            listener.custom(from, event);
        }
    }

    /// Asks a person and returns the answer.
    ///
    /// Without an answer, this future does not complete, and its node is dropped. While other nodes of the superstep run, the
    /// question is stored and [told](crate::event::EventKind::Asked), and can be answered. When they have ended, the run stops with
    /// [`Interrupted`](crate::run::RunErrorKind::Interrupted), and the thread is resumed with the answer. With the answer, the node
    /// runs again from its start and receives the answer here. Effects
    /// before the question are repeated; put those that must not be into [`once`](Self::once).
    ///
    /// Several questions can be asked at the same time, for example with `join!`. A node that has asked is dropped as soon as none
    /// of its effects under `once` is in flight: their results are recorded first. Anything else that it does beside the question
    /// is dropped, and begins again when the node does.
    ///
    /// # Errors
    ///
    /// Fails if the run has no thread, if the same question is asked twice in one run of the node (see
    /// [`Ask::key`](crate::interrupt::Ask::key)), or if the question or the answer cannot be stored. A clone of the context that
    /// is used after the run of its node has ended, for example on a spawned task, gets an error, also while it waits.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the question stays open, and the node waits for the answer unless it ends first.
    pub fn ask<T>(&self, question: impl Ask<Answer = T>) -> BoxFuture<'_, Result<T, BoxError>> {
        self.answer_to(question)
    }

    fn answer_to<A: Ask>(&self, question: A) -> BoxFuture<'_, Result<A::Answer, BoxError>> {
        // Boxed, so that a type that is not a question is reported once: in a future that names the type, `.await`
        // would report it again.
        Box::pin(async move {
            let Some(services) = &self.0.shared.services else {
                if let Some(test) = self.managed::<TestRecords>() {
                    return test.answer(self.attempt(), &question);
                }
                return Err(format!(
                    "node `{}` asks `{}`, but the run has no thread to wait on: launch it with `.store(&store).thread(id)`",
                    self.node(),
                    A::NAME
                )
                .into());
            };
            services.ask(&self.0.task_ref(), question).await
        })
    }

    /// Runs an effect that must not be repeated. Its result is stored before this returns, with every
    /// [`Durability`](crate::thread::Durability), and is read from the store when the node runs again.
    ///
    /// An effect that has begun is awaited and its result is stored before its node is dropped because it waits for a person, or
    /// because another node of the superstep has failed; then no other effect begins. A drain waits for it too. The effect is
    /// repeated if it was dropped before its result was stored: by a crash, a [cancellation](crate::run::CancelToken::cancel), a
    /// timeout of the node, the superstep or the run, or if the run itself is dropped. Where that matters, use
    /// [`task_id`](Self::task_id) as an idempotency key.
    ///
    /// With a store whose claims expire (Redis), another process can take over the thread of a process that stalls for
    /// longer than a claim lasts. A run whose claim may have expired therefore checks, before the effect, that it still has the thread.
    /// A stall that begins after this check and outlasts the claim can still lead to two effects.
    ///
    /// A failure is not stored. In a run without a store, the effect just runs.
    ///
    /// # Errors
    ///
    /// Returns the error of the effect. Also fails if the name is used twice in one run of the node, with a store or without, if
    /// the result cannot be stored or read, or if the run of the node has ended: a clone of the context on a spawned task may
    /// outlive it.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the effect is dropped too. A result that was not yet stored is lost, and the effect
    /// runs again when the node does.
    pub fn once<'a, T: Recordable, E: IntoBoxError>(
        &'a self,
        name: &'a str,
        effect: impl Future<Output = Result<T, E>> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, BoxError>> {
        let effect = async move { effect.await.map_err(Into::into) };
        self.once_boxed(name, Box::pin(effect))
    }

    /// As [`once`](Self::once). Apart from it, because rustc takes 20 times as long to check the future of a function that has the
    /// bound `impl Future + 'a`.
    fn once_boxed<'a, T: Recordable>(
        &'a self,
        name: &'a str,
        effect: BoxFuture<'a, Result<T, BoxError>>,
    ) -> BoxFuture<'a, Result<T, BoxError>> {
        // Boxed for the same reason as in `ask`.
        Box::pin(async move {
            if let Some(services) = &self.0.shared.services {
                return services.once(&self.0.task_ref(), name, effect).await;
            }
            if self.0.life.is_over() {
                return Err(outlived_error(self.node(), "once"));
            }
            let test = self.managed::<TestRecords>();
            if let Some(test) = &test {
                test.reserve(self.attempt(), "once", name)?;
                if let Some(result) = test.effect(name)? {
                    return Ok(result);
                }
            } else {
                self.reserve_name("once", name)?;
            }
            let result = effect.await?;
            if let Some(test) = &test {
                test.record(name, &result)?;
            }
            Ok(result)
        })
    }

    /// The checks that a stored run makes of a name.
    fn reserve_name(&self, method: &str, name: &str) -> Result<(), BoxError> {
        let scope = &self.0;
        check_name(scope.node(), method, name)?;
        let attempt = (scope.node, scope.send(), scope.attempt);
        if scope.shared.reserve_name(scope.superstep, attempt, name) {
            return Ok(());
        }
        Err(used_twice(scope.node(), method, name, NAME_OF_EFFECT))
    }

    /// Whether the run has a listener: a stream of [events](crate::Run::events) that receives emitted values.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { watched: bool }
    /// #[node(Log)]
    /// async fn look(cx: Context) -> LogWatched {
    ///     LogWatched(cx.has_listener())
    /// }
    ///
    /// flow!(Look(Log) { look });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert!(!Look::run(()).await?.watched);
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_listener(&self) -> bool {
        self.0.shared.listener.is_some()
    }

    /// Restarts the idle timeout of this attempt.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Log { #[key(append)] lines: Vec<String> }
    /// use std::time::Duration;
    ///
    /// #[node(Log, idle = 200ms)]
    /// async fn poll(cx: Context) {
    ///     for _ in 0..4 {
    ///         tokio::time::sleep(Duration::from_millis(100)).await;
    ///         cx.heartbeat();
    ///     }
    /// }
    ///
    /// flow!(Poll(Log) { poll });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// Poll::run(()).await?; // Takes 400 ms, with activity at least every 200 ms.
    /// # Ok(())
    /// # }
    /// ```
    pub fn heartbeat(&self) {
        let details = self.0.details();
        if let Some(activity) = details.and_then(|details| details.activity.as_ref()) {
            activity.touch();
        }
        if let Some(services) = &self.0.shared.services {
            services.storage.store.heard();
        }
    }
}
