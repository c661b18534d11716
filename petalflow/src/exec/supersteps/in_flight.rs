//! The tasks of a superstep that have been polled and wait.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::stream::{FuturesUnordered, StreamExt as _};

/// The tasks of a superstep that wait.
///
/// A task is polled for the first time in a place that the next task uses again, because most tasks end then. A task that waits
/// keeps its place. If others wait too, it gets a slot: then it is polled again only when its own waker was called.
pub(super) struct InFlight<'p, T> {
    place: Place<'p, T>,
    /// Whether the task in the place was polled for the first time since the last [`poll_next`](Self::poll_next). It is not polled
    /// again at once: a node that yields to other tasks of the runtime, as with `yield_now`, would not yield.
    has_started: bool,
    /// Made when it is needed, because it allocates.
    slots: Option<FuturesUnordered<Place<'p, T>>>,
}

/// Memory for the future of a task.
enum Place<'p, T> {
    /// The first place, in the future of the run.
    OfRun(Pin<&'p mut Option<T>>),
    Boxed(Pin<Box<Option<T>>>),
}

impl<T> Place<'_, T> {
    fn get(&mut self) -> Pin<&mut Option<T>> {
        match self {
            Place::OfRun(place) => place.as_mut(),
            Place::Boxed(place) => place.as_mut(),
        }
    }

    fn is_empty(&mut self) -> bool {
        self.get().is_none()
    }
}

impl<T: Future> Future for Place<'_, T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T::Output> {
        let Some(task) = self.get().as_pin_mut() else {
            return Poll::Pending;
        };
        let output = ready!(task.poll(cx));
        self.get().set(None);
        Poll::Ready(output)
    }
}

impl<'p, T: Future> InFlight<'p, T> {
    pub(super) fn new(place: Pin<&'p mut Option<T>>) -> Self {
        InFlight {
            place: Place::OfRun(place),
            has_started: false,
            slots: None,
        }
    }

    /// How many tasks wait.
    pub(super) fn len(&mut self) -> usize {
        let in_slots = self.slots.as_ref().map_or(0, FuturesUnordered::len);
        in_slots + usize::from(!self.place.is_empty())
    }

    /// Makes a task and polls it once. Returns its output if it ends at once.
    pub(super) fn start(
        &mut self,
        cx: &mut Context<'_>,
        make: impl FnOnce() -> T,
    ) -> Poll<T::Output> {
        if !self.place.is_empty() {
            self.move_to_slot();
        }
        // Made here and not passed in: it is large, and would be moved.
        self.place.get().set(Some(make()));
        let ended = Pin::new(&mut self.place).poll(cx);
        self.has_started = ended.is_pending();
        ended
    }

    /// The output of the next task that ends. Call it in the poll in which the last task was started.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<T::Output> {
        let has_started = std::mem::take(&mut self.has_started);
        if self.slots.as_ref().is_some_and(|slots| !slots.is_empty()) && !self.place.is_empty() {
            self.move_to_slot();
        }
        match &mut self.slots {
            Some(slots) if !slots.is_empty() => slots
                .poll_next_unpin(cx)
                .map(|output| output.expect("a task waits")),
            _ if has_started => Poll::Pending,
            _ => Pin::new(&mut self.place).poll(cx),
        }
    }

    /// Completes this work, and polls the tasks meanwhile. The outputs of those that end are added to `ended`.
    pub(super) fn poll_beside<R>(
        &mut self,
        mut work: Pin<&mut impl Future<Output = R>>,
        ended: &mut VecDeque<T::Output>,
    ) -> impl Future<Output = R> {
        poll_fn(move |cx| {
            let done = work.as_mut().poll(cx);
            while done.is_pending()
                && self.len() > 0
                && let Poll::Ready(output) = self.poll_next(cx)
            {
                ended.push_back(output);
            }
            done
        })
    }

    fn move_to_slot(&mut self) {
        let next = Place::Boxed(Box::pin(None));
        let slots = self.slots.get_or_insert_default();
        slots.push(std::mem::replace(&mut self.place, next));
    }
}
