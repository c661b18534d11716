//! The threads of an engine, for nodes of other threads that start them and wait for their ends.

use async_trait::async_trait;

use super::records::ThreadRecords;
use super::thread_address::ThreadAddress;
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
