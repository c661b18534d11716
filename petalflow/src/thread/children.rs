//! Nodes that start other threads, and wait for their ends.

use std::any::Any;
use std::future::IntoFuture;
use std::sync::Arc;

use tokio::sync::watch;

use super::{Thread, ThreadError, Threads};
use crate::durable::{self, ThreadEnd};
use crate::erased::into_state;
use crate::error::BoxError;
use crate::exec::{Begin, Start};
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::node::{ChildEnd, Context, RunChild};
use crate::run::AnyRun;
use crate::state::{InputOf, State};
use crate::task_services::outlived_error;

/// Why [`Context::join`] has no state to return.
///
/// ```
/// use petalflow::thread::JoinError;
///
/// let error = JoinError::Failed { thread: "order-7".into(), cause: Some("no such article".into()) };
/// assert_eq!(error.to_string(), "thread `order-7` has failed: no such article");
/// ```
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// The last run of the thread failed, or a person rejected it.
    #[error("thread `{thread}` has failed: {}", cause.as_deref().unwrap_or("its last run says why"))]
    Failed {
        /// The thread.
        thread: String,
        /// Why, if it was started by another thread.
        cause: Option<String>,
    },
    /// A person [holds](crate::checkpoint::ThreadStatus::Held) the thread.
    #[error(
        "thread `{thread}` is held: it was cancelled, edited or forked; resume it, and then the thread that waits for it"
    )]
    Held {
        /// The thread.
        thread: String,
    },
    /// There is no such thread.
    #[error("there is no thread `{thread}` to wait for: it was deleted, or nobody has started it")]
    Unknown {
        /// The thread.
        thread: String,
    },
}

/// The start of a thread by a node: a future of the [`Thread`]. Made by [`Context::start`].
#[must_use = "it does nothing before it is awaited"]
pub struct StartChild<'a, F: Flow> {
    cx: &'a Context,
    child: Thread<F>,
    input: <F::State as State>::Input,
    cancels: bool,
}

impl<F: Flow> std::fmt::Debug for StartChild<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StartChild")
            .field("child", &self.child)
            .field("cancels", &self.cancels)
            .finish_non_exhaustive()
    }
}

impl<F: Flow> StartChild<'_, F> {
    /// Cancels the thread when the run of its parent is cancelled and a person [holds](crate::checkpoint::ThreadStatus::Held) the
    /// parent: its run is cancelled, or it is held where it sleeps or waits. A run of it in another process stops within a second.
    pub fn cancel_with_parent(mut self) -> Self {
        self.cancels = true;
        self
    }
}

impl<'a, F: Flow> IntoFuture for StartChild<'a, F>
where
    <F::State as State>::Input: 'a,
{
    type Output = Result<Thread<F>, BoxError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let StartChild {
                cx,
                child,
                input,
                cancels,
            } = self;
            let (task, any) = (cx.0.task_ref(), &child.any);
            if let Some(services) = &cx.0.shared.services {
                let start = Box::pin(async {
                    any.checked()?;
                    if cancels {
                        // First, so that no moment is without it.
                        let own = &services.storage;
                        let child = durable::address_of(&any.id, &any.threads.store, &own.store);
                        let child = child.ok_or_else(|| apart(&any.id, &own.thread))?;
                        durable::add_cancelled_child(own, &child).await?;
                    }
                    any.begin_as_child(task.id, Box::new(input)).await
                });
                services.start_child(&task, &any.id, start).await?;
                return Ok(child);
            }
            if cx.0.life.is_over() {
                return Err(outlived_error(cx.node(), "start"));
            }
            if tokio::runtime::Handle::try_current().is_err() {
                return Err(format!(
                    "node `{}` starts the thread `{}`, which needs tokio, and no runtime of tokio polls the run: run it in one, with `enable_all()`",
                    cx.node(),
                    child.id()
                )
                .into());
            }
            let children = cx.0.shared.children();
            if children.start(&any.id, task.id, || run_of(&child, task.id, input)) {
                return Ok(child);
            }
            Err(any.of_another().into())
        })
    }
}

/// The error of a thread that is to be cancelled with another one, where one of the two is in a store and the other in an engine.
fn apart(child: &str, parent: &str) -> ThreadError {
    ThreadError::Request(format!(
        "thread `{child}` cannot be cancelled with thread `{parent}`, because one of them is in a store and the other in an engine such as Restate: start it without `cancel_with_parent()`"
    ))
}

/// The run of a child whose parent is not stored.
fn run_of<F: Flow>(child: &Thread<F>, by: TaskId, input: <F::State as State>::Input) -> RunChild {
    let threads = &child.any.threads;
    let run = AnyRun::new(Start {
        flow: Arc::clone(&threads.flow),
        settings: threads.settings.clone(),
        begin: Begin::Input(Box::new(input)),
    });
    let (sender, end) = watch::channel(None::<ChildEnd>);
    let run = tokio::spawn(async move {
        let ended = run.await.map(|state| {
            let state: Arc<dyn Any + Send + Sync> = Arc::new(into_state::<F::State>(state));
            state
        });
        sender.send_replace(Some(ended.map_err(|error| error.to_string())));
    });
    let run = run.abort_handle();
    RunChild { by, end, run }
}

impl Context {
    /// Starts a thread of another flow, with this id. However often the node runs, by a retry, a crash or a resume, the thread is
    /// started once: the same task gets the same thread.
    ///
    /// The thread is stored with its input when this returns, and is due. A program that [wakes](Threads::wake) the threads of that flow
    /// runs it, in this process or in another one. Nothing else does: so the number of runs in a process is that of its waker. The
    /// middleware of runs gets no input. The thread goes on whatever happens to this one, unless it is
    /// [cancelled with it](StartChild::cancel_with_parent).
    ///
    /// In a run without a store, the other flow runs without a store too, at once, and ends with the run.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Threads;
    ///
    /// #[state]
    /// #[derive(Debug)]
    /// struct Parcel {
    ///     #[key(input)]
    ///     order: u32,
    ///     label: String,
    /// }
    ///
    /// #[node(Parcel)]
    /// async fn pack(order: &u32) -> ParcelLabel {
    ///     ParcelLabel(format!("parcel of order {order}"))
    /// }
    ///
    /// flow!(Pack(Parcel) { pack });
    ///
    /// #[state]
    /// struct Order {
    ///     #[key(input)]
    ///     number: u32,
    ///     sent: String,
    /// }
    ///
    /// #[node(Order)]
    /// async fn send(number: &u32, cx: Context, parcels: Managed<Threads<Pack>>) -> petalflow::Result<OrderSent> {
    ///     let parcel = cx.start(&parcels, format!("parcel-{number}"), *number).await?;
    ///     let packed = cx.join(&parcel).await?;
    ///     Ok(OrderSent(packed.label.clone()))
    /// }
    ///
    /// flow!(Send(Order) { send });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = InMemoryStore::new();
    /// let parcels = Pack::new().store(&store);
    /// let orders = Send::new().manage(parcels.clone()).store(&store);
    /// tokio::spawn(parcels.wake().run());
    /// tokio::spawn(orders.wake().run());
    ///
    /// let order = orders.thread("order-7");
    /// let waits = order.run(7).await?.into_finished().err().expect("it waits for the parcel");
    /// assert!(waits.interrupts.is_empty());
    ///
    /// tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    /// let order = order.snapshot().await?.expect("it exists");
    /// assert_eq!(order.state.sent, "parcel of order 7");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If there is a thread with this id that this task has not started, the input does not fit, or the store of the other flow fails.
    /// If the store of this thread fails, the run ends. In a run without a store: if no runtime of tokio polls it.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread was started or not. The same call by the same task continues.
    pub fn start<F: Flow>(
        &self,
        threads: &Threads<F>,
        id: impl AsRef<str>,
        input: impl InputOf<F::State>,
    ) -> StartChild<'_, F> {
        StartChild {
            cx: self,
            child: threads.thread(id),
            input: input.into(),
            cancels: false,
        }
    }

    /// Waits until a thread has ended, and returns its state. On a thread, nothing is held meanwhile: the node is dropped as one that
    /// [sleeps](Self::sleep), and if nothing else runs, the run ends and the thread is
    /// [`Sleeping`](crate::checkpoint::ThreadStatus::Sleeping). The end of the other thread makes it due.
    ///
    /// The other thread has ended when its last run has finished or failed, or a person holds it. While it waits for a person, sleeps or
    /// was stopped, this waits. It need not be started by this task: `threads.thread(id)` is one that another node has started.
    ///
    /// The node looks again by itself, each time after half of the age of the other thread, from 5 seconds to 10 minutes. So it goes on
    /// too if a process has died at the end of the other thread, if the two threads are in different stores, or if the other one was not
    /// started by a node.
    ///
    /// # Errors
    ///
    /// A [`JoinError`] if the other thread has failed, is held, or does not exist. If a store fails.
    ///
    /// # Cancel safety
    ///
    /// As [`sleep`](Self::sleep).
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # use petalflow::thread::Threads;
    /// # #[state]
    /// # struct Parcel { #[key(input)] order: u32 }
    /// # #[node(Parcel)]
    /// # async fn pack(order: &u32) -> petalflow::Result<()> { Err(format!("there is no order {order}").into()) }
    /// # flow!(Pack(Parcel) { pack });
    /// # #[state]
    /// # struct Order { sent: String }
    /// use petalflow::thread::JoinError;
    ///
    /// #[node(Order)]
    /// async fn send(cx: Context, parcels: Managed<Threads<Pack>>) -> petalflow::Result<OrderSent> {
    ///     let parcel = cx.start(&parcels, "parcel-7", 7).await?;
    ///     let error = cx.join(&parcel).await.err().ok_or("there is no such order")?;
    ///     match error.downcast_ref() {
    ///         Some(JoinError::Failed { thread, .. }) => Ok(OrderSent(format!("{thread} was not sent"))),
    ///         _ => Err(error),
    ///     }
    /// }
    /// # flow!(Send(Order) { send });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let parcels = Pack::new().store(&InMemoryStore::new());
    /// let order = Send::new().manage(parcels).run(()).await?;
    /// assert_eq!(order.sent, "parcel-7 was not sent");
    /// # Ok(())
    /// # }
    /// ```
    pub fn join<F: Flow>(
        &self,
        child: &Thread<F>,
    ) -> BoxFuture<'_, Result<Arc<F::State>, BoxError>> {
        let child = child.clone();
        Box::pin(async move {
            let end = self.end_of(&child).await?;
            self.state_at(&child, end).await
        })
    }

    /// Waits until all of these threads have ended, and returns their states in this order. The node runs again a few times, and not for
    /// each thread: as often as it takes to halve their number until none is left. So prefer this to many calls of [`join`](Self::join).
    ///
    /// # Errors
    ///
    /// That of the first thread, in this order, of which [`join`](Self::join) would fail, when all have ended.
    ///
    /// # Cancel safety
    ///
    /// As [`sleep`](Self::sleep).
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # use petalflow::thread::Threads;
    /// # #[state]
    /// # struct Square { #[key(input)] of: u32, area: u32 }
    /// # #[node(Square)]
    /// # async fn multiply(of: &u32) -> SquareArea { SquareArea(of * of) }
    /// # flow!(Multiply(Square) { multiply });
    /// # #[state]
    /// # struct Total { area: u32 }
    /// #[node(Total)]
    /// async fn add(cx: Context, squares: Managed<Threads<Multiply>>) -> petalflow::Result<TotalArea> {
    ///     let mut children = Vec::new();
    ///     for side in 1..=3 {
    ///         children.push(cx.start(&squares, format!("square-{side}"), side).await?);
    ///     }
    ///     let squares = cx.join_all(&children).await?;
    ///     Ok(TotalArea(squares.iter().map(|square| square.area).sum()))
    /// }
    /// # flow!(Add(Total) { add });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let squares = Multiply::new().store(&InMemoryStore::new());
    /// assert_eq!(Add::new().manage(squares).run(()).await?.area, 14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn join_all<F: Flow>(
        &self,
        children: &[Thread<F>],
    ) -> BoxFuture<'_, Result<Vec<Arc<F::State>>, BoxError>> {
        let children = children.to_vec();
        Box::pin(async move {
            // Of the threads that have not ended, it waits for one that does not depend on the order in which they end. So half of the
            // others have ended then, on average.
            let mut order: Vec<usize> = (0..children.len()).collect();
            order.sort_by_cached_key(|at| TaskId::of(&[children[*at].id().as_bytes()]).to_bytes());
            let mut ends = Vec::new();
            for at in order {
                ends.push((at, self.end_of(&children[at]).await?));
            }
            ends.sort_by_key(|(at, _)| *at);
            let mut states = Vec::with_capacity(children.len());
            for (child, (_, end)) in children.iter().zip(ends) {
                states.push(self.state_at(child, end).await?);
            }
            Ok(states)
        })
    }

    /// Waits for the end of a thread.
    async fn end_of<F: Flow>(&self, child: &Thread<F>) -> Result<End, BoxError> {
        let Some(services) = &self.0.shared.services else {
            return self.end_of_run(child).await;
        };
        let task = self.0.task_ref();
        Ok(End::Thread(child.any.ended(services, &task).await?))
    }

    /// Waits for the end of a child of a run that is not stored.
    async fn end_of_run<F: Flow>(&self, child: &Thread<F>) -> Result<End, BoxError> {
        if self.0.life.is_over() {
            return Err(outlived_error(self.node(), "join"));
        }
        let end = self.0.shared.children().end_of(child.id());
        let mut end = end.ok_or_else(|| child.any.unknown())?;
        // It fails if the run was stopped without an end: the runtime shuts down.
        let ended = end.wait_for(Option::is_some).await?.clone();
        Ok(End::Run(ended.ok_or("the run of a child has no end")?))
    }

    /// The state of a thread that has ended.
    async fn state_at<F: Flow>(
        &self,
        child: &Thread<F>,
        end: End,
    ) -> Result<Arc<F::State>, BoxError> {
        let thread = child.id().to_string();
        match end {
            End::Run(Ok(state)) => {
                let state = state.downcast().map_err(|_| {
                    ThreadError::Request(format!("thread `{thread}` is one of another flow"))
                })?;
                Ok(state)
            }
            End::Run(Err(cause)) => Err(JoinError::Failed {
                thread,
                cause: Some(cause),
            }
            .into()),
            End::Thread(ThreadEnd::Failed(cause)) => {
                Err(JoinError::Failed { thread, cause }.into())
            }
            End::Thread(ThreadEnd::Held) => Err(JoinError::Held { thread }.into()),
            End::Thread(ThreadEnd::Finished) => {
                let snapshot = child.any.snapshot().await?;
                let snapshot = snapshot.ok_or_else(|| child.any.unknown())?;
                Ok(Arc::new(into_state(snapshot.state)))
            }
        }
    }
}

/// How a thread, or a run without a store, has ended.
enum End {
    Thread(ThreadEnd),
    Run(ChildEnd),
}
