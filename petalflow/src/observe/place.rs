//! Where observed code runs, and how it stays there when it is spawned.

use std::future::Future;

use tracing::instrument::Instrumented;
use tracing::{Instrument as _, Span};

use super::scope;

#[cfg(feature = "llm")]
pub(super) use seat::{Seat, current, seated};

/// A future that is to be spawned, as part of what spawns it.
#[cfg(feature = "llm")]
pub(crate) fn carried<F: Future>(work: F) -> Instrumented<impl Future<Output = F::Output>> {
    let work = seated(current(), work);
    scope::within(scope::current(), work).instrument(Span::current())
}

/// A future that is to be spawned, as part of what spawns it.
#[cfg(not(feature = "llm"))]
pub(crate) fn carried<F: Future>(work: F) -> Instrumented<impl Future<Output = F::Output>> {
    scope::within(scope::current(), work).instrument(Span::current())
}

/// A function that is to be called on another thread, as part of what sends it there.
#[cfg(feature = "llm")]
pub(crate) fn carried_call<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let (span, seat, run) = (Span::current(), current(), scope::current());
    move || span.in_scope(|| scope::called(run, || seat::called(seat, work)))
}

/// A function that is to be called on another thread, as part of what sends it there.
#[cfg(not(feature = "llm"))]
pub(crate) fn carried_call<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
    let (span, run) = (Span::current(), scope::current());
    move || span.in_scope(|| scope::called(run, work))
}

#[cfg(feature = "llm")]
mod seat {
    use std::future::Future;
    use std::sync::Arc;

    use crate::observe::Totals;

    /// A node that runs, and what it takes is counted by.
    #[derive(Clone)]
    pub(in crate::observe) struct Seat {
        pub(in crate::observe) node: Arc<str>,
        pub(in crate::observe) totals: Totals,
    }

    tokio::task_local! {
        static SEAT: Option<Seat>;
    }

    /// Where the caller runs.
    pub(in crate::observe) fn current() -> Option<Seat> {
        SEAT.try_with(Option::clone).ok().flatten()
    }

    /// Runs something there.
    pub(in crate::observe) fn seated<F: Future>(
        seat: Option<Seat>,
        work: F,
    ) -> impl Future<Output = F::Output> {
        SEAT.scope(seat, work)
    }

    /// Calls something there.
    pub(super) fn called<R>(seat: Option<Seat>, work: impl FnOnce() -> R) -> R {
        SEAT.sync_scope(seat, work)
    }
}
