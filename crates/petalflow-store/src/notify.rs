//! Wakes the futures that wait for a change.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Wakes all futures that wait. What petalflow needs of `tokio::sync::Notify`: tokio's feature `sync` would take a quarter of
/// the time that tokio takes to build.
#[derive(Debug, Default)]
pub struct Notify {
    waiters: Mutex<Waiters>,
}

#[derive(Debug, Default)]
struct Waiters {
    /// How many times the waiters were woken.
    round: u64,
    /// The wakers of this round.
    slots: Vec<Option<Waker>>,
    /// The slots whose future was dropped.
    free: Vec<usize>,
}

impl Notify {
    /// Wakes all futures that [`notified`](Self::notified) has returned.
    pub fn notify_waiters(&self) {
        let mut waiters = self.lock();
        waiters.round += 1;
        waiters.free.clear();
        let woken = std::mem::take(&mut waiters.slots);
        // A waker may run code that locks.
        drop(waiters);
        woken.into_iter().flatten().for_each(Waker::wake);
    }

    /// Completes with the first [`notify_waiters`](Self::notify_waiters) after this call. It need not be polled before.
    pub fn notified<N: Deref<Target = Notify>>(this: N) -> Notified<N> {
        let round = this.lock().round;
        Notified {
            notify: this,
            round,
            slot: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiters> {
        // No panic can leave it half-changed.
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// See [`Notify::notified`].
pub struct Notified<N: Deref<Target = Notify>> {
    notify: N,
    round: u64,
    slot: Option<usize>,
}

impl<N: Deref<Target = Notify> + Unpin> Future for Notified<N> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut waiters = this.notify.lock();
        if waiters.round != this.round {
            return Poll::Ready(());
        }
        let slot = this.slot.or_else(|| waiters.free.pop());
        let slot = slot.unwrap_or_else(|| {
            waiters.slots.push(None);
            waiters.slots.len() - 1
        });
        this.slot = Some(slot);
        match &mut waiters.slots[slot] {
            Some(waker) => waker.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl<N: Deref<Target = Notify>> Drop for Notified<N> {
    fn drop(&mut self) {
        let Some(slot) = self.slot else { return };
        let mut waiters = self.notify.lock();
        if waiters.round == self.round {
            waiters.slots[slot] = None;
            waiters.free.push(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;

    fn poll(future: Pin<&mut impl Future<Output = ()>>) -> bool {
        future
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_ready()
    }

    #[test]
    fn a_notification_before_the_first_poll_counts() {
        let notify = Notify::default();
        let mut before = pin!(Notify::notified(&notify));
        notify.notify_waiters();
        let mut after = pin!(Notify::notified(&notify));
        assert!(poll(before.as_mut()));
        assert!(!poll(after.as_mut()));
        notify.notify_waiters();
        assert!(poll(after.as_mut()));
    }

    #[test]
    fn dropped_futures_leave_their_slots() {
        let notify = Notify::default();
        for _ in 0..3 {
            let (mut one, mut two) = (
                pin!(Notify::notified(&notify)),
                pin!(Notify::notified(&notify)),
            );
            assert!(!poll(one.as_mut()) && !poll(two.as_mut()) && !poll(one.as_mut()));
        }
        let waiters = notify.lock();
        assert_eq!((waiters.slots.len(), waiters.free.len()), (2, 2));
    }

    #[tokio::test]
    async fn all_waiting_tasks_are_woken() {
        let notify = Arc::new(Notify::default());
        let wait = || tokio::spawn(Notify::notified(Arc::clone(&notify)));
        let tasks = [wait(), wait()];
        tokio::task::yield_now().await;
        notify.notify_waiters();
        for task in tasks {
            task.await.unwrap();
        }
    }
}
