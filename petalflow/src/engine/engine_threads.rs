//! The threads of an engine, for nodes of other threads that start them and wait for their ends.

use std::fmt;

use async_trait::async_trait;

use super::records::ThreadRecords;
use crate::checkpoint::StoreError;

/// The threads of one flow in an engine, for nodes of other flows that [start](crate::Context::start) them and wait for their ends.
/// [`EngineStore`](super::EngineStore) makes a store of it. Both flows are in engines that reach each other by [`ThreadAddress`].
///
/// An engine that has this also does what a store does at the end of a thread: it executes the next superstep of the threads that
/// [wait](Self::join) for it. And when a person holds a thread, it stops the [children](ThreadRecords::cancelled_children) of it.
///
/// ```
/// use petalflow::checkpoint::StoreError;
/// use petalflow::engine::{EngineStore, EngineThreads, ThreadAddress, ThreadRecords};
/// use petalflow::async_trait;
///
/// /// An engine without threads.
/// struct Empty;
///
/// #[async_trait]
/// impl EngineThreads for Empty {
///     fn name(&self) -> &str {
///         "empty"
///     }
///
///     async fn read(&self, _: &str) -> Result<ThreadRecords, StoreError> {
///         Ok(ThreadRecords::default())
///     }
///
///     async fn begin(&self, _: &str, _: ThreadRecords) -> Result<bool, StoreError> {
///         Err(StoreError::other("it is full", "no thread can begin"))
///     }
///
///     async fn join(&self, _: &str, _: ThreadAddress) -> Result<(), StoreError> {
///         Ok(())
///     }
/// }
///
/// let threads = EngineStore::new(Empty);
/// # let _ = threads;
/// ```
#[async_trait]
pub trait EngineThreads: Send + Sync + 'static {
    /// The name by which threads of other engines reach these: that of
    /// [`ThreadEngine::reached_as`](super::ThreadEngine::reached_as).
    fn name(&self) -> &str;

    /// The records of a thread, empty if there is none. Must not wait for what runs.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached, or the records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn read(&self, thread: &str) -> Result<ThreadRecords, StoreError>;

    /// Begins a thread with these records, whose first superstep is executed next. Returns whether there was none with this id.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached, or the records are too large. The thread has begun or not.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread has begun or not.
    async fn begin(&self, thread: &str, records: ThreadRecords) -> Result<bool, StoreError>;

    /// Makes the engine execute the next superstep of another thread when this one has ended, or does not exist. Must not wait for what
    /// runs.
    ///
    /// # Errors
    ///
    /// The engine cannot be reached.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, it is so or not. The thread that waits looks again by itself.
    async fn join(&self, thread: &str, by: ThreadAddress) -> Result<(), StoreError>;
}

/// How a thread of an engine is reached.
///
/// ```
/// use petalflow::engine::ThreadAddress;
///
/// let address = ThreadAddress::parse("orders/order-7").expect("it has an engine");
/// assert_eq!((&*address.engine, &*address.thread), ("orders", "order-7"));
/// assert_eq!(address.to_string(), "orders/order-7");
/// assert_eq!(ThreadAddress::parse("order-7"), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ThreadAddress {
    /// The [name](EngineThreads::name) of the threads of its flow.
    pub engine: String,
    /// Its id.
    pub thread: String,
}

impl ThreadAddress {
    /// The address that is displayed so. `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (engine, thread) = text.split_once('/')?;
        Some(ThreadAddress {
            engine: engine.into(),
            thread: thread.into(),
        })
    }
}

impl fmt::Display for ThreadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.engine, self.thread)
    }
}
