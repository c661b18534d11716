//! The messages to a run without a store.

use std::any::Any;
use std::collections::{HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::sync::Notify;

use super::Receivable;
use crate::ids::TaskId;
use crate::state::State;

/// A message of any key.
type AnyMessage = Box<dyn Any + Send>;

/// What a call of [`Context::receive`](super::Context::receive) gets is known by: the task, the index of the key, and the position of the
/// call among those of the task for the key.
type CallId = (TaskId, usize, usize);

/// A call in progress.
pub(super) struct Call<'a> {
    shared: &'a Shared,
    id: CallId,
    attempt: u32,
    is_done: bool,
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            // It has got nothing, so the next call gets what it would have got.
            let used = (self.attempt, self.id);
            self.shared.lock().used.remove(&used);
        }
    }
}

/// Sends messages to the nodes of a run without a store, which [receive](super::Context::receive) them. Give it to the run with
/// [`manage`](crate::Launch::manage). Clones are the same mailbox. A mailbox is for one run: nodes of two runs take the messages from
/// each other.
///
/// A run on a thread needs none: [`Thread::send`](crate::thread::Thread::send) sends messages to it.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::run::Mailbox;
///
/// #[state]
/// struct Order {
///     #[key(receive)]
///     payment: u32,
///     paid: u32,
/// }
///
/// #[node(Order)]
/// async fn wait(cx: Context) -> petalflow::Result<OrderPaid> {
///     let first = cx.receive::<OrderPayment>().await?;
///     let second = cx.receive::<OrderPayment>().await?;
///     Ok(OrderPaid(first + second))
/// }
///
/// flow!(Wait(Order) { wait });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mailbox = Mailbox::new();
/// mailbox.send(OrderPayment(3));
/// let order = Wait::new().manage(mailbox.clone()).run(());
/// let (order, ()) = tokio::join!(order, async { mailbox.send(OrderPayment(4)) });
/// assert_eq!(order?.paid, 7);
/// # Ok(())
/// # }
/// ```
pub struct Mailbox<S> {
    shared: Arc<Shared>,
    state: PhantomData<fn(S)>,
}

#[derive(Default)]
struct Shared {
    messages: Mutex<Messages>,
    arrived: Notify,
}

#[derive(Default)]
struct Messages {
    /// Those that no node has received, by the index of the key.
    unread: HashMap<usize, VecDeque<AnyMessage>>,
    /// What each call has received, so that the next attempt of the node gets it again. `None`: its time was over.
    received: HashMap<CallId, Option<AnyMessage>>,
    /// The calls of each attempt that are in progress or have got something.
    used: HashSet<(u32, CallId)>,
    superstep: u64,
}

impl<S> Clone for Mailbox<S> {
    fn clone(&self) -> Self {
        Mailbox {
            shared: Arc::clone(&self.shared),
            state: PhantomData,
        }
    }
}

impl<S> Default for Mailbox<S> {
    fn default() -> Self {
        Mailbox {
            shared: Arc::default(),
            state: PhantomData,
        }
    }
}

impl<S> std::fmt::Debug for Mailbox<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mailbox").finish_non_exhaustive()
    }
}

impl<S: State> Mailbox<S> {
    /// A mailbox without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a message. It remains until a node receives it, also if the run has not begun.
    pub fn send<K: Receivable<State = S>>(&self, message: K) {
        let mut messages = self.shared.lock();
        let unread = messages.unread.entry(K::INDEX).or_default();
        unread.push_back(Box::new(message.into_value()));
        drop(messages);
        self.shared.arrived.notify_waiters();
    }

    /// A call of this attempt of a task.
    pub(super) fn call<K: Receivable<State = S>>(
        &self,
        superstep: u64,
        (task, attempt): (TaskId, u32),
    ) -> Call<'_> {
        let mut messages = self.shared.lock();
        messages.begin(superstep);
        let mut id = (task, K::INDEX, 1);
        while !messages.used.insert((attempt, id)) {
            id.2 += 1;
        }
        drop(messages);
        Call {
            shared: &self.shared,
            id,
            attempt,
            is_done: false,
        }
    }
}

impl Call<'_> {
    /// The message that this call gets. If there is none yet, waits for it. `None` if its time was over in an earlier attempt.
    pub(super) async fn receive<K: Receivable>(&mut self) -> Option<K::Value> {
        loop {
            let mut arrived = pin!(self.shared.arrived.notified());
            // Before it looks, so that no message is missed.
            arrived.as_mut().enable();
            if let Poll::Ready(received) = self.take::<K>() {
                return received;
            }
            arrived.await;
        }
    }

    /// The time of this call is over. Returns the message that has arrived in the meantime.
    pub(super) fn end<K: Receivable>(mut self) -> Option<K::Value> {
        if let Poll::Ready(received) = self.take::<K>() {
            return received;
        }
        self.is_done = true;
        self.shared.lock().received.insert(self.id, None);
        None
    }

    /// What the call has received in an earlier attempt, or the next message. Pending if there is none yet.
    fn take<K: Receivable>(&mut self) -> Poll<Option<K::Value>> {
        let mut messages = self.shared.lock();
        let received = if let Some(received) = messages.received.get(&self.id) {
            received.as_ref().and_then(value::<K>)
        } else {
            let unread = messages.unread.get_mut(&K::INDEX);
            let Some(message) = unread.and_then(VecDeque::pop_front) else {
                return Poll::Pending;
            };
            let received = value::<K>(&message);
            messages.received.insert(self.id, Some(message));
            received
        };
        self.is_done = true;
        Poll::Ready(received)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Messages> {
        // No panic can leave it half-changed.
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messages {
    /// No task of an earlier superstep runs again.
    fn begin(&mut self, superstep: u64) {
        if self.superstep != superstep {
            self.superstep = superstep;
            self.received.clear();
            self.used.clear();
        }
    }
}

fn value<K: Receivable>(message: &AnyMessage) -> Option<K::Value> {
    message.downcast_ref::<K::Value>().cloned()
}
