//! Where events go, and where they are read.

use std::pin::Pin;

use async_trait::async_trait;
use futures_core::Stream;

use super::event::StreamedEvent;
use crate::error::BoxError;

/// Takes the events of threads that an engine runs, so that listeners in other processes can read them. `petalflow-redis` has one.
///
/// Events of several processes arrive in any order, but all readers have to read them in the same one.
///
/// ```
/// use petalflow::engine::{EventSink, StreamedEvent};
/// use petalflow::{BoxError, async_trait};
///
/// /// Prints events.
/// struct Print;
///
/// #[async_trait]
/// impl EventSink for Print {
///     async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError> {
///         for event in events {
///             println!("{}: {}", event.thread, event.value);
///         }
///         Ok(())
///     }
///
///     async fn forget(&self, _: &str) -> Result<(), BoxError> {
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Publishes events, in their order. They may be of several threads.
    ///
    /// # Errors
    ///
    /// Some or all of the events are lost then, and all are counted as dropped. No run fails because of it. The events of a thread
    /// must not be lost because of another thread.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the events are published, or some, or none.
    async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError>;

    /// Removes the events of a thread that was deleted, and publishes [`StreamedEvent::deleted`].
    ///
    /// # Errors
    ///
    /// The events remain then.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the events are removed or not.
    async fn forget(&self, thread: &str) -> Result<(), BoxError>;
}

/// Events with their numbers, which increase.
pub type StoredEvents = Pin<Box<dyn Stream<Item = Result<(u64, StreamedEvent), BoxError>> + Send>>;

/// Reads what was published to an [`EventSink`].
///
/// ```
/// use futures_util::stream::{self, StreamExt as _};
/// use petalflow::engine::{EventSource, StoredEvents};
/// use petalflow::{BoxError, async_trait};
///
/// struct Empty;
///
/// #[async_trait]
/// impl EventSource for Empty {
///     fn events(&self, _: &str) -> StoredEvents {
///         stream::pending().boxed()
///     }
///
///     async fn newest(&self, _: &str) -> Result<u64, BoxError> {
///         Ok(0)
///     }
/// }
/// ```
#[async_trait]
pub trait EventSource: Send + Sync {
    /// All events of the thread that remain, and those that follow. The stream does not end. An error is its last item.
    ///
    /// It always begins with the oldest event: a reader has to know which attempts are newer than others.
    fn events(&self, thread: &str) -> StoredEvents;

    /// The number of the newest event of the thread; 0 if there is none.
    ///
    /// # Errors
    ///
    /// The events cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn newest(&self, thread: &str) -> Result<u64, BoxError>;
}
