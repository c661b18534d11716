//! The node values of a flow.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::state::ThreadSafe;

/// The values of `N` nodes of a flow. They are kept without their types, so that the type of the flow repeats no type of the user.
#[derive(Clone)]
pub struct NodeValues<const N: usize>([Option<Arc<dyn Any + Send + Sync>>; N]);

impl<const N: usize> NodeValues<N> {
    /// No values.
    pub fn none() -> Self {
        NodeValues([const { None }; N])
    }

    pub fn set<T: ThreadSafe>(&mut self, index: usize, value: T) {
        self.0[index] = Some(Arc::new(value));
    }

    /// Sets a value that is not set.
    pub fn fill<T: ThreadSafe>(&mut self, index: usize, value: fn() -> T) {
        if self.0[index].is_none() {
            self.set(index, value());
        }
    }

    pub fn get<T: ThreadSafe>(&self, index: usize) -> &T {
        self.0[index]
            .as_deref()
            .and_then(|value| value.downcast_ref())
            .expect("the builder has no `run` before every node value is given")
    }
}

impl<const N: usize> fmt::Debug for NodeValues<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeValues").finish_non_exhaustive()
    }
}
