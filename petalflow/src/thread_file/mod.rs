//! A stored thread as one file that people read, and that another store or a test reads.

mod checkpoint;
mod error;
mod fields;
mod inbox;
mod model;
mod records;
mod removed;
mod secrets;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value;

use crate::checkpoint::{Store, ThreadStorage};
use crate::outcome::ThreadError;
#[cfg(feature = "engine")]
pub(crate) use checkpoint::FileCheckpoint;
pub use error::FileError;
#[cfg(feature = "engine")]
pub(crate) use model::FileFlow;
pub(crate) use model::FileThread;

/// A thread as one file, `NAME.thread.json`: its flow and the outline of the program that wrote it, its input, the tasks of each
/// superstep with what they read, what they returned, and what they recorded (results of [`once`](crate::Context::once), sleeps, questions
/// and answers), the changes of the state after each superstep, messages, and how the last run ended. The values are JSON.
///
/// Results of tasks are in it if the thread [retains](super::thread::Retention::with_results) them. A thread whose history was pruned has the
/// checkpoints that are left; `history` in the file says so. Events are not in it.
///
/// `Display` gives the text of the file, and [`parse`](str::parse) reads it.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow::thread::{Retention, ThreadFile};
///
/// #[state]
/// struct Refund {
///     #[key(input)]
///     euros: u32,
///     #[key(input, secret)]
///     card: String,
///     paid: bool,
/// }
///
/// #[node(Refund)]
/// async fn pay(euros: &u32, card: &str) -> RefundPaid {
///     RefundPaid(*euros > 0 && !card.is_empty())
/// }
///
/// flow!(PayRefund(Refund) { pay });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let threads = PayRefund::new().store(&InMemoryStore::new()).retention(Retention::ALL.with_results());
/// let order = threads.thread("order-7");
/// order.run(RefundInput { euros: 7, card: "4000-1234".into() }).await?.into_finished()?;
///
/// let text = order.export().await?.to_string();
/// assert!(text.contains(r#""flow": "PayRefund""#) && !text.contains("4000-1234"));
///
/// let there = InMemoryStore::new();
/// text.parse::<ThreadFile>()?.write_to(&there).await?;
/// let copy = PayRefund::new().store(&there).thread("order-7").snapshot().await?.expect("it is there");
/// assert_eq!((copy.state.paid, &*copy.state.card), (true, "[removed]"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq)]
pub struct ThreadFile {
    json: Value,
    thread: FileThread,
}

impl ThreadFile {
    /// Reads a thread, without the values of these keys.
    pub(crate) async fn read(
        storage: &ThreadStorage,
        removed: Vec<String>,
    ) -> Result<Self, ThreadError> {
        let thread = FileThread::read(storage, removed).await?;
        let json = thread
            .to_json()
            .map_err(ThreadError::value("a message to the thread"))?;
        // The model is that of the file, without what was removed.
        let read = FileThread::from_json(&json);
        let thread = read.map_err(|error| ThreadError::Request(error.to_string()))?;
        Ok(ThreadFile { json, thread })
    }

    /// Checks that the thread has all keys whose values were to be removed.
    pub(crate) fn check_removed(&self) -> Result<(), ThreadError> {
        let keys = self.thread.keys();
        let mut removed = self.removed().iter();
        match removed.find(|key| !keys.contains(&***key)) {
            None => Ok(()),
            Some(unknown) => Err(ThreadError::Request(format!(
                "thread `{}` has no key `{unknown}` whose value could be removed: its keys are `{}`",
                self.thread(),
                Vec::from_iter(keys).join("`, `")
            ))),
        }
    }

    /// The id of the thread.
    pub fn thread(&self) -> &str {
        &self.thread.id
    }

    /// The stored name of the flow.
    pub fn flow(&self) -> &str {
        &self.thread.flow
    }

    /// The file as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The stored names of the keys whose values were removed.
    pub fn removed(&self) -> &[String] {
        &self.thread.removed
    }

    #[cfg(feature = "engine")]
    pub(crate) fn model(&self) -> &FileThread {
        &self.thread
    }

    /// Writes the thread to a store that has no thread with its id. Ids of tasks contain the id of the thread, so it keeps its id.
    ///
    /// A value that was removed is `[removed]` if its key is a text, and the default of its key otherwise.
    ///
    /// # Errors
    ///
    /// [`Exists`](ThreadError::Exists) if the store has such a thread, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no thread, or all of it without its labels, or all of it.
    pub async fn write_to(&self, store: &(impl Store + Clone)) -> Result<(), ThreadError> {
        let id: Arc<str> = self.thread.id.as_str().into();
        let flow = self.thread.flow.as_str().into();
        let storage = ThreadStorage::new(Arc::new(store.clone()), id, flow);
        self.thread.write_to(&storage).await
    }
}

impl fmt::Debug for ThreadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadFile")
            .field("thread", &self.thread.id)
            .field("flow", &self.thread.flow)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ThreadFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.json)
    }
}

impl FromStr for ThreadFile {
    type Err = FileError;

    fn from_str(text: &str) -> Result<Self, FileError> {
        // Some editors begin a file with this mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json: Value = serde_json::from_str(text)
            .map_err(|problem| FileError::new("", &problem.to_string()))?;
        let thread = FileThread::from_json(&json)?;
        Ok(ThreadFile { json, thread })
    }
}
