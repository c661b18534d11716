//! Nodes that receive messages.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::time::{Duration, SystemTime};

use super::mailbox::Call;
use super::{Context, Mailbox, Receivable};
use crate::clock::{duration_ms, now_ms, to_ms};
use crate::erased::StateType;
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::Namespace;
use crate::state::{Recordable, State};
use crate::task_services::{TaskServices, outlived_error};
use petalflow_store::codec::decode;

/// When a wait ends, of the time at which it begins. Both are in milliseconds since 1970 (UTC).
type End<'a> = Box<dyn FnOnce(u64) -> u64 + Send + 'a>;

/// A wait for a message: a future of the message. Made by [`Context::receive`].
#[must_use = "it does nothing before it is awaited"]
pub struct Receive<'a, K> {
    cx: &'a Context,
    key: PhantomData<fn() -> K>,
}

impl<K> std::fmt::Debug for Receive<'_, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receive").finish_non_exhaustive()
    }
}

impl Context {
    /// Receives the next message to a key with `receive`, in the order in which they were sent. Each message is received once. Those that
    /// were sent before the node began are received too; in a thread, those of earlier turns as well. Programs send messages with
    /// [`Thread::send`](crate::thread::Thread::send), and to a run without a store with a [`Mailbox`].
    ///
    /// If there is no message, this waits for one. On a thread, nothing is held meanwhile: the node is dropped as one that
    /// [sleeps](Self::sleep), and if nothing else runs, the run ends and the thread is
    /// [`Sleeping`](crate::checkpoint::ThreadStatus::Sleeping). The message makes it due, and [`Threads::wake`](crate::thread::Threads::wake)
    /// continues it in any process. Then the node runs again from its start. While other nodes of the superstep run, the run looks for
    /// messages once in a second. If a process dies while it sends a message, the thread looks by itself, after half of the time that it
    /// has waited, from 5 seconds to 10 minutes.
    ///
    /// Which message a node has got is recorded before this returns, by the position of the call in the run of the node. So a node that
    /// runs again, after a crash or as a retry, gets the same messages. They are taken from the thread by the checkpoint of the superstep:
    /// a fork from before it receives them again, and a later one does not. If nodes that run at the same time receive messages of one key,
    /// each message is for one of them, whichever looks first.
    ///
    /// [`within`](Receive::within) and [`until`](Receive::until) end the wait.
    ///
    /// ```
    /// use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Order {
    ///     #[key(input)]
    ///     number: u32,
    ///     #[key(receive)]
    ///     payment: u32,
    ///     #[key(append)]
    ///     log: Vec<String>,
    /// }
    ///
    /// #[node(Order)]
    /// async fn wait_for_payment(cx: Context) -> petalflow::Result<OrderLog> {
    ///     let cents = cx.receive::<OrderPayment>().await?;
    ///     Ok(OrderLog(vec![format!("paid {cents}")]))
    /// }
    ///
    /// flow!(Sell(Order) { wait_for_payment });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// let orders = Sell::new().store(&InMemoryStore::new());
    /// tokio::spawn(orders.wake().run());
    /// let order = orders.thread("order-7");
    /// order.run(7).await?.into_finished().err().expect("it waits for a message");
    /// assert_eq!(order.info().await?.expect("it exists").status, ThreadStatus::Sleeping);
    ///
    /// // Elsewhere:
    /// orders.thread("order-7").send(OrderPayment(990)).await?;
    /// # tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    /// let snapshot = order.snapshot().await?.expect("it exists");
    /// assert_eq!(snapshot.state.log, ["paid 990"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the key is one of another state, the node is in a sub-flow, or the value of the message cannot be read as the type of the key. In
    /// a run without a store: if it has no [`Mailbox`]. On an engine such as Restate, to whose threads nobody can send messages. If the
    /// store fails, the run ends.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, as in `select!`, the next call of the node for this key gets the message that this one would have got. If
    /// there is no other call, a message that was recorded for this one at that moment is lost: prefer [`within`](Receive::within) and
    /// [`until`](Receive::until).
    pub fn receive<K: Receivable>(&self) -> Receive<'_, K> {
        Receive {
            cx: self,
            key: PhantomData,
        }
    }
}

impl<'a, K: Receivable<Value: Recordable>> Receive<'a, K> {
    /// Waits so long at most. Returns `None` if no message has arrived until then.
    ///
    /// The end of the wait is stored when it begins, as that of [`Context::sleep`]. A node that runs again waits until the same time. That
    /// the time was over is recorded as well, so that a node that runs again does not get a message that has arrived since. If nothing has
    /// looked at the end of the wait, because no process has run, a message that has arrived until the first look is received.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Order { #[key(receive)] payment: u32, #[key(append)] log: Vec<String> }
    /// use std::time::Duration;
    ///
    /// #[node(Order)]
    /// async fn wait_for_payment(cx: Context) -> petalflow::Result<OrderLog> {
    ///     let paid = cx.receive::<OrderPayment>().within(Duration::from_secs(3 * 86_400)).await?;
    ///     let line = paid.map_or("not paid".to_string(), |cents| format!("paid {cents}"));
    ///     Ok(OrderLog(vec![line]))
    /// }
    /// # flow!(Sell(Order) { wait_for_payment });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// let order = Sell::new().manage(petalflow::run::Mailbox::<Order>::new()).run(()).await?;
    /// assert_eq!(order.log, ["not paid"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::receive`], and as [`Context::sleep`].
    ///
    /// # Cancel safety
    ///
    /// As [`Context::receive`].
    pub fn within(self, duration: Duration) -> BoxFuture<'a, Result<Option<K::Value>, BoxError>> {
        let wait_ms = duration_ms(duration);
        self.end(move |now_ms| now_ms.saturating_add(wait_ms))
    }

    /// [`within`](Self::within) a time that ends then, by the clock of the store. If that time has come, it returns the message that has
    /// arrived, or `None`.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Order { #[key(receive)] payment: u32, #[key(append)] log: Vec<String> }
    /// use std::time::{Duration, SystemTime};
    ///
    /// #[node(Order)]
    /// async fn read_payments(cx: Context) -> petalflow::Result<OrderLog> {
    ///     let mut log = Vec::new();
    ///     // Those that have arrived, without a wait.
    ///     while let Some(cents) = cx.receive::<OrderPayment>().until(SystemTime::UNIX_EPOCH).await? {
    ///         log.push(format!("paid {cents}"));
    ///     }
    ///     Ok(OrderLog(log))
    /// }
    /// # flow!(Sell(Order) { read_payments });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let mailbox = petalflow::run::Mailbox::new();
    /// mailbox.send(OrderPayment(3));
    /// mailbox.send(OrderPayment(4));
    /// let order = Sell::new().manage(mailbox).run(()).await?;
    /// assert_eq!(order.log, ["paid 3", "paid 4"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`within`](Self::within).
    ///
    /// # Cancel safety
    ///
    /// As [`Context::receive`].
    pub fn until(self, time: SystemTime) -> BoxFuture<'a, Result<Option<K::Value>, BoxError>> {
        let end_ms = to_ms(time);
        self.end(move |_| end_ms)
    }

    fn end(
        self,
        end: impl FnOnce(u64) -> u64 + Send + 'a,
    ) -> BoxFuture<'a, Result<Option<K::Value>, BoxError>> {
        Box::pin(self.cx.receive_until::<K>(Some(Box::new(end))))
    }
}

impl<'a, K: Receivable<Value: Recordable>> IntoFuture for Receive<'a, K> {
    type Output = Result<K::Value, BoxError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let received = self.cx.receive_until::<K>(None).await?;
            received.ok_or_else(|| "the wait for a message has ended without one".into())
        })
    }
}

impl Context {
    async fn receive_until<K: Receivable<Value: Recordable>>(
        &self,
        end: Option<End<'_>>,
    ) -> Result<Option<K::Value>, BoxError> {
        let Some(services) = &self.0.shared.services else {
            return self.receive_in_memory::<K>(end).await;
        };
        self.check_state::<K>(services)?;
        let key = <K::State as State>::KEYS[K::INDEX].id;
        let Some(writes) = services.receive(&self.0.task_ref(), key, end).await? else {
            return Ok(None);
        };
        let read: Result<[(bool, K::Value); 1], _> = decode(&writes);
        match read {
            Ok([(_, value)]) => Ok(Some(value)),
            Err(error) => Err(self.unreadable::<K>(&error.to_string())),
        }
    }

    /// A message is for a key of the flow.
    fn check_state<K: Receivable>(&self, services: &TaskServices) -> Result<(), BoxError> {
        let of_key = StateType::of::<K::State>();
        let Some(of_flow) = services.ty else {
            return Ok(());
        };
        let known = of_flow.keys.get(K::INDEX);
        if of_key.name == of_flow.name && known.is_some_and(|key| key.name == K::NAME) {
            return Ok(());
        }
        Err(format!(
            "node `{}` receives messages to key `{}` of `{}`, and the flow runs over `{}`, so nobody can send one: receive a key of `{}`",
            self.node(),
            K::NAME,
            of_key.name,
            of_flow.name,
            of_flow.name
        )
        .into())
    }

    fn unreadable<K: Receivable>(&self, problem: &str) -> BoxError {
        format!(
            "a message to key `{}` cannot be read as `{}` in node `{}`: {problem}; an earlier program has sent another type",
            K::NAME,
            std::any::type_name::<K::Value>(),
            self.node()
        )
        .into()
    }

    async fn receive_in_memory<K: Receivable>(
        &self,
        end: Option<End<'_>>,
    ) -> Result<Option<K::Value>, BoxError> {
        if self.0.life.is_over() {
            return Err(outlived_error(self.node(), "receive"));
        }
        let node = self.node();
        if *self.namespace() != Namespace::ROOT {
            return Err(TaskServices::in_subflow(node));
        }
        let Some(mailbox) = self.managed::<Mailbox<K::State>>() else {
            let (key, state) = (K::NAME, <K::State as State>::NAME);
            return Err(format!(
                "node `{node}` receives messages to key `{key}` of `{state}`, and nobody can send one to this run: launch it with `.store(&store).thread(id)`, or give it a `Mailbox::<{state}>` with `.manage(mailbox)`"
            )
            .into());
        };
        let task = (self.task_id(), self.attempt());
        let mut call = mailbox.call::<K>(self.superstep(), task);
        let Some(end) = end else {
            return Ok(call.receive::<K>().await);
        };
        let now_ms = now_ms();
        let wait = Duration::from_millis(end(now_ms).saturating_sub(now_ms));
        if wait.is_zero() {
            return Ok(call.end::<K>());
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(format!(
                "node `{node}` waits for a message until a time, which needs tokio, and no runtime of tokio polls the run: run it in one, with `enable_all()`"
            )
            .into());
        }
        receive_within::<K>(call, wait).await
    }
}

async fn receive_within<K: Receivable>(
    mut call: Call<'_>,
    wait: Duration,
) -> Result<Option<K::Value>, BoxError> {
    match tokio::time::timeout(wait, call.receive::<K>()).await {
        Ok(received) => Ok(received),
        Err(_) => Ok(call.end::<K>()),
    }
}
