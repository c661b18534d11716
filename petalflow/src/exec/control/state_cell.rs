//! The state of a run, which the driver lends to the tasks of a superstep.

/// Holds the state of a run, or nothing while the state is lent to another cell.
///
/// The driver owns the state between supersteps. [`lend`](Self::lend) moves it into the snapshot that the tasks share, and
/// [`reclaim`](Self::reclaim) moves it back when no task holds the snapshot any more.
#[derive(Debug)]
pub(in crate::exec) struct StateCell<S>(Option<S>);

/// Reading a state that is lent is a defect of the driver.
const LENT: &str = "the state is lent to the tasks of a superstep";

impl<S> StateCell<S> {
    pub(in crate::exec) fn new(state: S) -> Self {
        StateCell(Some(state))
    }

    /// A cell to lend to.
    pub(in crate::exec) fn empty() -> Self {
        StateCell(None)
    }

    pub(in crate::exec) fn get(&self) -> &S {
        self.0.as_ref().expect(LENT)
    }

    pub(in crate::exec) fn get_mut(&mut self) -> &mut S {
        self.0.as_mut().expect(LENT)
    }

    pub(in crate::exec) fn lend(&mut self, to: &mut Self) {
        to.0 = self.0.take();
    }

    pub(in crate::exec) fn reclaim(&mut self, from: &mut Self) {
        self.0 = from.0.take();
    }

    /// Takes the state out at the end of the run.
    pub(in crate::exec) fn take(&mut self) -> S {
        self.0.take().expect(LENT)
    }
}
