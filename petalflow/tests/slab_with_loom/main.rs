//! Interleavings of a driver and the threads that wake its futures, with at most [`PREEMPTIONS`] forced switches between
//! threads. `loom` reports a lost wake-up as a deadlock.
//!
//! ```text
//! RUSTFLAGS="--cfg petalflow_loom" cargo test -p petalflow --release --test slab_with_loom
//! ```
#![cfg(petalflow_loom)]

#[allow(dead_code, reason = "the engine uses all of it")]
#[path = "../../src/exec/supersteps/slab.rs"]
mod slab;

/// The types that the slab uses, here those of `loom`.
mod sync {
    pub(super) use loom::sync::{Mutex, MutexGuard, atomic::AtomicBool};
}

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::sync::Mutex;
use loom::sync::atomic::AtomicBool;
use loom::thread;

use self::slab::Slab;

/// Without a bound the search takes many minutes, and a lost wake-up needs few switches.
const PREEMPTIONS: usize = 3;

fn model(test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(PREEMPTIONS);
    model.check(test);
}

/// A future that another thread completes.
#[derive(Clone)]
struct Signal(Arc<Inner>);

struct Inner {
    sent: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    fn new() -> Self {
        Signal(Arc::new(Inner {
            sent: AtomicBool::new(false),
            waker: Mutex::new(None),
        }))
    }

    fn send(&self) {
        self.0.sent.store(true, Ordering::Release);
        let waker = self.0.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for Signal {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        *self.0.waker.lock().unwrap() = Some(cx.waker().clone());
        if self.0.sent.load(Ordering::Acquire) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// Starts the futures and waits until all of them have completed.
fn run_all(slab: &mut Slab<Signal>, signals: &[Signal]) {
    let mut completed = 0;
    for signal in signals {
        if slab.start(|| signal.clone()).is_ready() {
            completed += 1;
        }
    }
    while completed < signals.len() {
        block_on(slab.next());
        completed += 1;
    }
}

#[test]
fn a_wake_from_another_thread_is_never_lost() {
    model(|| {
        let signals = [Signal::new(), Signal::new()];
        let threads: Vec<_> = signals
            .clone()
            .into_iter()
            .map(|signal| thread::spawn(move || signal.send()))
            .collect();
        let mut slab = Slab::new();
        run_all(&mut slab, &signals);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_late_wake_for_a_reused_slot_loses_nothing() {
    model(|| {
        let (first, second) = (Signal::new(), Signal::new());
        let mut slab = Slab::new();
        assert!(slab.start(|| first.clone()).is_pending());
        // The first future is dropped; its waker may still be called while the second one uses the slot.
        slab.clear();
        let threads = [first, second.clone()].map(|signal| thread::spawn(move || signal.send()));
        run_all(&mut slab, &[second]);
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
