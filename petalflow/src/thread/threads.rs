//! A flow with a store.

use std::marker::PhantomData;
use std::sync::Arc;

use super::erased::AnyThreads;
use super::{Durability, OnBusy, Retention, ThreadError};
use crate::cancel_token::RunToken;
use crate::checkpoint::{AttributeKind, Store, ThreadCount, ThreadInfo, ThreadQuery};
use crate::exec::Settings;
use crate::flow::{AnyFlow, Flow};

/// A flow with a store: its threads. Made by [`Launch::store`](crate::Launch::store).
///
/// ```
/// use petalflow::checkpoint::ThreadQuery;
/// use petalflow::thread::Durability;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let threads = Talk::new().store(&InMemoryStore::new()).durability(Durability::Async);
/// for person in ["ann", "bob"] {
///     threads.thread(person).run(vec!["hello".to_string()]).await?.into_finished()?;
/// }
/// let known = threads.list(ThreadQuery::default()).await?;
/// assert_eq!(known.iter().map(|thread| &*thread.id).collect::<Vec<_>>(), ["ann", "bob"]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a thread does nothing before `run`"]
pub struct Threads<F: Flow> {
    pub(super) any: AnyThreads,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Clone for Threads<F> {
    fn clone(&self) -> Self {
        Threads {
            any: self.any.clone(),
            flow: PhantomData,
        }
    }
}

impl<F: Flow> std::fmt::Debug for Threads<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

impl<F: Flow> Threads<F> {
    pub(crate) fn new(flow: Arc<dyn AnyFlow>, settings: Settings, store: Arc<dyn Store>) -> Self {
        Threads {
            any: AnyThreads::new(flow, settings, store),
            flow: PhantomData,
        }
    }

    /// Sets when checkpoints are written. The default is after each superstep.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.any.durability = durability;
        self
    }

    /// Sets what to do with a run on a thread that another run has claimed. The default is to refuse it.
    pub fn on_busy(mut self, on_busy: OnBusy) -> Self {
        self.any.on_busy = on_busy;
        self
    }

    /// Stops further runs with this token, in place of the one of the [launch](crate::Launch::cancel_with): for a server that
    /// can cancel a single run.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadStatus;
    /// use petalflow::run::CancelToken;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Nothing {}
    /// # #[node(Nothing)]
    /// # async fn wait() { std::future::pending::<()>().await }
    /// # flow!(Wait(Nothing) { wait });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Wait::new().store(&InMemoryStore::new());
    /// let token = CancelToken::new();
    /// let run = threads.clone().cancel_with(&token).thread("one").run(()).begin().await?;
    /// token.cancel();
    /// assert!(run.await.is_err());
    /// let info = threads.thread("one").info().await?.expect("it has begun");
    /// assert_eq!(info.status, ThreadStatus::Held);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel_with(mut self, token: impl Into<RunToken>) -> Self {
        self.any.settings.cancel = Some(token.into());
        self
    }

    /// Sets how many checkpoints of a thread are retained. The default is all. It also sets whether the results of tasks are
    /// [retained](Retention::with_results), which is not the default: with them, an [exported](super::Thread::export) thread can be replayed
    /// as a test.
    ///
    /// Old checkpoints are removed when a run has ended, and at a barrier of a long run, at least every 64 supersteps. With more
    /// retained checkpoints there are as many supersteps between two removals. So a run that never ends has a bounded history.
    pub fn retention(mut self, retention: Retention) -> Self {
        self.any.retention = retention;
        self
    }

    /// The threads in the store that a query covers, in its order: those of all flows that share the store.
    ///
    /// A condition on a [search attribute](crate::checkpoint::AttributeTest) finds threads by the newest value of a key with
    /// `#[key(indexed)]`:
    ///
    /// ```
    /// use petalflow::checkpoint::{AttributeTest, ThreadFilter, ThreadQuery};
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Order {
    ///     #[key(input, indexed)]
    ///     amount: u32,
    /// }
    /// # #[node(Order)]
    /// # async fn ship(amount: &u32) { println!("{amount}"); }
    /// # flow!(Sell(Order) { ship; });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let orders = Sell::new().store(&InMemoryStore::new());
    /// for (id, amount) in [("small", 5), ("large", 500)] {
    ///     orders.thread(id).run(amount).await?.into_finished()?;
    /// }
    /// let large = AttributeTest::above(100);
    /// let filter = Some(ThreadFilter::Attribute("amount", &large));
    /// let found = orders.list(ThreadQuery { filter, ..ThreadQuery::default() }).await?;
    /// assert_eq!(found[0].id, "large");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the store fails, or a condition names an attribute that the flow does not index, or has a value of another type. List
    /// by those of other flows with [`Store::threads`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        self.any.list(query).await
    }

    /// How many threads in the store a query covers, by flow and status: those of all flows that share the store.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadQuery;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Talk::new().store(&InMemoryStore::new());
    /// threads.thread("ann").run(vec!["hello".to_string()]).await?;
    /// let counts = threads.counts(ThreadQuery::default()).await?;
    /// assert_eq!((&*counts[0].flow, counts[0].threads), ("Talk", 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, ThreadError> {
        self.any.counts(query).await
    }

    /// The names and types of the search attributes of the flow: its keys with `#[key(indexed)]`.
    ///
    /// ```
    /// use petalflow::checkpoint::AttributeKind;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Order { #[key(input, indexed)] amount: u32 }
    /// # #[node(Order)]
    /// # async fn ship(amount: &u32) { println!("{amount}"); }
    /// # flow!(Sell(Order) { ship; });
    /// let orders = Sell::new().store(&InMemoryStore::new());
    /// assert_eq!(orders.attributes(), [("amount", AttributeKind::Number)]);
    /// ```
    pub fn attributes(&self) -> Vec<(&'static str, AttributeKind)> {
        self.any.attributes()
    }
}
