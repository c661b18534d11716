//! The threads of a store, without the types of the programs that wrote them.

use std::fmt;
use std::sync::Arc;

use super::follow::followed;
use super::{CheckpointInfo, FollowedEvents, HistoryQuery, ThreadError};
use crate::checkpoint::{Store, ThreadInfo, ThreadQuery, ThreadStorage};
use crate::durable;
use crate::outcome::check_id;
use crate::plan::NodeNames;
use crate::snapshot::{StoredSnapshot, StoredSubflowRun};
use crate::thread_file::ThreadFile;

/// The threads of a store, of any program, to be read. Keys, nodes and flows have their names in storage, and values are JSON.
///
/// A program that has the types reads a [`Thread`](super::Thread): it knows the current names, and it can change the thread.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow::thread::StoredThreads;
///
/// #[state]
/// struct Chat {
///     #[key(input, append)]
///     lines: Vec<String>,
/// }
///
/// #[node(Chat)]
/// async fn reply(lines: &[String]) -> ChatLines {
///     ChatLines(vec![format!("{} so far", lines.len())])
/// }
///
/// flow!(Talk(Chat) { reply });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// Talk::new().store(&store).thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
///
/// // In another program.
/// let snapshot = StoredThreads::new(&store).snapshot("ann", None).await?.expect("there is a thread");
/// assert_eq!(snapshot.flow, "Talk");
/// assert_eq!(snapshot.keys["lines"], serde_json::json!(["hello", "1 so far"]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoredThreads {
    store: Arc<dyn Store>,
}

impl fmt::Debug for StoredThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredThreads").finish_non_exhaustive()
    }
}

impl StoredThreads {
    /// The threads of this store. An `Arc<dyn Store>` is a store.
    pub fn new(store: &(impl Store + Clone)) -> Self {
        StoredThreads {
            store: Arc::new(store.clone()),
        }
    }

    /// What the store lists of its threads, in the order of their ids.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        Ok(self.store.threads(query).await?)
    }

    /// A thread at its newest checkpoint, or at the one with this number. `None` if there is no such thread.
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot(
        &self,
        thread: &str,
        checkpoint: Option<u64>,
    ) -> Result<Option<StoredSnapshot>, ThreadError> {
        let storage = self.storage(thread)?;
        let snapshot = durable::stored_snapshot(&storage, checkpoint).await?;
        match (snapshot, checkpoint) {
            (None, Some(checkpoint)) => Err(ThreadError::UnknownCheckpoint {
                thread: thread.into(),
                checkpoint,
            }),
            (snapshot, _) => Ok(snapshot),
        }
    }

    /// The runs of sub-flows that the thread still has, the oldest first, each at its newest checkpoint. They are those of sub-flows of the
    /// graph, and of flows that nodes run by their code, such as agents that an agent calls.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::StoredThreads;
    ///
    /// #[state]
    /// struct Text {
    ///     #[key(input)]
    ///     words: u32,
    /// }
    ///
    /// #[node(Text)]
    /// async fn shorten(words: &u32) -> TextWords {
    ///     TextWords(words / 2)
    /// }
    ///
    /// flow!(Shorten(Text) { shorten });
    ///
    /// #[node(Text)]
    /// async fn edit(words: &u32, cx: Context) -> petalflow::Result<TextWords> {
    ///     Ok(TextWords(Shorten::new().run_in(&cx, "Shorten", *words).await?.words))
    /// }
    ///
    /// flow!(Edit(Text) { edit });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = InMemoryStore::new();
    /// Edit::new().store(&store).thread("ann").run(80).await?.into_finished()?;
    /// let runs = StoredThreads::new(&store).subflow_runs("ann").await?;
    /// assert_eq!((&*runs[0].namespace, &runs[0].keys["words"]), ("edit/Shorten", &40.into()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn subflow_runs(&self, thread: &str) -> Result<Vec<StoredSubflowRun>, ThreadError> {
        durable::subflow_runs(&self.storage(thread)?).await
    }

    /// A thread as one file, without the values of these keys, by their names in storage. A store does not know which keys a program marks
    /// as `secret`: name all of them. [`Thread::export`](super::Thread::export) knows them.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::thread::{StoredThreads, ThreadError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let threads = StoredThreads::new(&InMemoryStore::new());
    /// let error = threads.export("ann", ["card"]).await.unwrap_err();
    /// assert!(matches!(error, ThreadError::Unknown { .. }));
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::export`](super::Thread::export), and if the thread has no key of such a name.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn export<K: Into<String>>(
        &self,
        thread: &str,
        secret: impl IntoIterator<Item = K>,
    ) -> Result<ThreadFile, ThreadError> {
        let secret = secret.into_iter().map(Into::into).collect();
        let file = ThreadFile::read(&self.storage(thread)?, secret).await?;
        file.check_removed()?;
        Ok(file)
    }

    /// The checkpoints of a thread, newest first.
    ///
    /// # Errors
    ///
    /// If the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::thread::{HistoryQuery, StoredThreads};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = StoredThreads::new(&InMemoryStore::new());
    /// assert!(threads.history("ann", HistoryQuery::all()).await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, ThreadError> {
        let storage = self.storage(thread)?;
        durable::history(&storage, NodeNames::Stored, query).await
    }

    /// Reads everything that is stored of a thread: all checkpoints of its flow and of its sub-flows, the records of tasks, and the
    /// events. Returns what is damaged, in words; nothing if the thread is whole, or if there is none.
    ///
    /// A store may have damage that belongs to no thread: see [`Store::verify`].
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// use petalflow::checkpoint::{InMemoryStore, Store};
    /// use petalflow::thread::StoredThreads;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = InMemoryStore::new();
    /// assert!(StoredThreads::new(&store).verify("ann").await?.is_empty());
    /// assert!(store.verify().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn verify(&self, thread: &str) -> Result<Vec<String>, ThreadError> {
        durable::verify(&self.storage(thread)?).await
    }

    /// The stored events of a thread with numbers above `number`, and those that follow, as
    /// [`Thread::follow`](super::Thread::follow).
    pub fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        followed(self.storage(thread), number)
    }

    pub(super) fn storage(&self, thread: &str) -> Result<ThreadStorage, ThreadError> {
        check_id(thread)?;
        // A reader does not need the name of the flow.
        let (store, no_flow) = (Arc::clone(&self.store), "".into());
        Ok(ThreadStorage::new(store, thread.into(), no_flow))
    }
}
