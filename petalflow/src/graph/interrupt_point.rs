//! The interrupts of the builder.

use crate::error::BoxError;
use crate::interrupt::Guard;
use crate::state::State;

/// Decides whether an interrupt stops the run.
pub(super) type BoxGuard<S> = Box<dyn Fn(&S) -> Result<bool, BoxError> + Send + Sync>;

/// An interrupt, by the name of its node.
pub(super) struct NamedInterruptPoint<S: State> {
    pub(super) node: String,
    pub(super) after: bool,
    pub(super) guard: Option<BoxGuard<S>>,
}

/// Boxes a guard.
pub(super) fn boxed<S: State, F, G>(guard: F) -> BoxGuard<S>
where
    F: Fn(&S) -> G + Send + Sync + 'static,
    G: Guard,
{
    Box::new(move |state| guard(state).stops())
}
