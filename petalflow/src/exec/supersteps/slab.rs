//! A slab of futures of one type, polled in place: the tasks that the parallel executor runs.
//!
//! `tests/slab_with_loom` compiles this file with the types of `loom`, and tries the interleavings of the threads.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::sync::{AtomicBool, Mutex, MutexGuard};

/// Futures in slots that outlive them. The memory and the waker of a slot are used by one future after another, so a run
/// allocates only for its widest superstep.
///
/// A future is polled once when it starts, and after that only when its own waker was called.
pub(super) struct Slab<T> {
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

/// The slots whose futures have to be polled, and the waker of the driver.
#[derive(Default)]
struct Ready(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    slots: Vec<usize>,
    /// Wakes the driver, once.
    parent: Option<Waker>,
}

/// The waker of a slot.
struct SlotWaker {
    slot: usize,
    /// Whether the slot is in the queue.
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing under this lock can panic.
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
    pub(super) fn new() -> Self {
        Slab {
            slots: Vec::new(),
            free: Vec::new(),
            batch: Vec::new(),
            ready: Arc::default(),
        }
    }

    /// How many futures are pending.
    pub(super) fn running(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Makes a future in a slot and polls it once. Returns its output if it is ready at once.
    pub(super) fn start(&mut self, future: impl FnOnce() -> T) -> Poll<T::Output> {
        let slot = self.free.pop().unwrap_or_else(|| self.grow());
        // Made here and not passed in: it is large, and would be moved.
        self.slots[slot].future.set(Some(future()));
        self.poll_slot(slot)
    }

    /// The output of the next future that completes.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the futures stay in their slots.
    pub(super) fn next(&mut self) -> impl Future<Output = T::Output> {
        std::future::poll_fn(|cx| self.poll_next(cx))
    }

    /// Drops all futures.
    pub(super) fn clear(&mut self) {
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
        // Only the slots that were ready when this poll began: a future that wakes itself at once, as the futures of tokio do
        // when their budget is spent, must not block the thread.
        while let Some(slot) = self.batch.pop() {
            if let Poll::Ready(output) = self.poll_slot(slot) {
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    }

    fn poll_slot(&mut self, number: usize) -> Poll<T::Output> {
        let slot = &mut self.slots[number];
        // Before the poll, so that a wake during the poll queues the slot again.
        slot.flag.queued.store(false, Ordering::Release);
        // A waker that outlives its future may queue a slot that is empty, or that another future uses by now.
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
