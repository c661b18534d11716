//! Many futures of one type, polled in place: what a fork runs in.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Futures in slots that outlive them. A slot's memory and waker serve one future after another, so a run that forks in
/// every superstep allocates only for its widest fork.
///
/// A future is polled once when it starts; after that only when its own waker was called.
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    /// Slots to be polled.
    batch: Vec<usize>,
    ready: Arc<Ready>,
}

struct Slot<T> {
    future: Pin<Box<Option<T>>>,
    waker: Waker,
    flag: Arc<SlotWaker>,
}

/// The slots whose futures asked to be polled, and whom to wake for them.
#[derive(Default)]
struct Ready(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    slots: Vec<usize>,
    parent: Option<Waker>,
}

struct SlotWaker {
    slot: usize,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under this lock can panic halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for SlotWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            let mut queue = self.ready.lock();
            queue.slots.push(self.slot);
            let parent = queue.parent.take();
            drop(queue);
            if let Some(parent) = parent {
                parent.wake();
            }
        }
    }
}

impl<T: Future> Slab<T> {
    pub(crate) fn new() -> Self {
        Slab {
            slots: Vec::new(),
            free: Vec::new(),
            batch: Vec::new(),
            ready: Arc::default(),
        }
    }

    /// How many futures are pending.
    pub(crate) fn running(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Makes a future in a slot and polls it once; its output, if it was ready at once.
    #[inline]
    pub(crate) fn start(&mut self, future: impl FnOnce() -> T) -> Poll<T::Output> {
        let number = self.free.pop().unwrap_or_else(|| self.grow());
        // Made here rather than handed over: it is large, and would be moved.
        self.slots[number].future.set(Some(future()));
        self.poll_slot(number)
    }

    /// The output of the next future that completes.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the futures stay in their slots.
    pub(crate) async fn next(&mut self) -> T::Output {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Drops all futures.
    pub(crate) fn clear(&mut self) {
        self.free.clear();
        for (number, slot) in self.slots.iter_mut().enumerate() {
            slot.future.set(None);
            self.free.push(number);
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<T::Output> {
        {
            let mut queue = self.ready.lock();
            match &mut queue.parent {
                Some(parent) => parent.clone_from(cx.waker()),
                None => queue.parent = Some(cx.waker().clone()),
            }
            if self.batch.is_empty() {
                std::mem::swap(&mut queue.slots, &mut self.batch);
            }
        }
        // Only what was ready when this poll began: a future that wakes itself at once (as tokio's do when their budget is
        // spent) must not keep the thread.
        while let Some(slot) = self.batch.pop() {
            if let Poll::Ready(output) = self.poll_slot(slot) {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    }

    fn poll_slot(&mut self, number: usize) -> Poll<T::Output> {
        let slot = &mut self.slots[number];
        // Before the poll: a wake during it must count.
        slot.flag.queued.store(false, Ordering::Release);
        // A waker that outlived its future may name a slot that is empty or serves another future by now.
        let Some(future) = slot.future.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let output = std::task::ready!(future.poll(&mut Context::from_waker(&slot.waker)));
        slot.future.set(None);
        self.free.push(number);
        Poll::Ready(output)
    }

    #[cold]
    fn grow(&mut self) -> usize {
        let slot = self.slots.len();
        let flag = Arc::new(SlotWaker {
            slot,
            queued: AtomicBool::new(false),
            ready: Arc::clone(&self.ready),
        });
        self.slots.push(Slot {
            future: Box::pin(None),
            waker: Waker::from(Arc::clone(&flag)),
            flag,
        });
        slot
    }
}
