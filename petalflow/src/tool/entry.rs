//! A tool as `tools!` lists it.

use std::sync::Arc;

use super::{FnTool, Tool};

/// A tool of `tools!`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Entry {
    pub(crate) name: &'static str,
    pub(crate) make: fn() -> Arc<dyn Tool>,
}

impl Entry {
    /// The entry of a tool.
    pub const fn of<T: FnTool>() -> Self {
        Entry {
            name: T::NAME,
            make: || Arc::new(T::TOOL),
        }
    }
}
