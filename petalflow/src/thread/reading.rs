//! Reads a stored thread: its snapshots, its history and its entry in the list.

use std::collections::BTreeMap;

use super::{CheckpointInfo, HistoryQuery, Snapshot, Thread, ThreadError};
use crate::checkpoint::ThreadInfo;
use crate::flow::Flow;
use crate::thread_file::ThreadFile;

impl<F: Flow> Thread<F> {
    /// The thread at its newest checkpoint. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If the store fails, or the stored thread does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot(&self) -> Result<Option<Snapshot<F::State>>, ThreadError> {
        Ok(self.any.snapshot().await?.map(Snapshot::typed))
    }

    /// The thread at a checkpoint.
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the store fails, or the stored thread does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot_at(&self, checkpoint: u64) -> Result<Snapshot<F::State>, ThreadError> {
        Ok(Snapshot::typed(self.any.snapshot_at(checkpoint).await?))
    }

    /// The checkpoints of the thread, newest first.
    ///
    /// # Errors
    ///
    /// If the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn history(&self, query: HistoryQuery) -> Result<Vec<CheckpointInfo>, ThreadError> {
        self.any.history(query).await
    }

    /// The thread at each of these checkpoints, newest first: [`history`](Self::history) with the states. For one superstep, see
    /// [`HistoryQuery::superstep`].
    ///
    /// # Errors
    ///
    /// As [`history`](Self::history), and if a state does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// use petalflow::thread::HistoryQuery;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
    /// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let snapshots = thread.snapshots(HistoryQuery::all()).await?;
    /// let lines: Vec<usize> = snapshots.iter().map(|snapshot| snapshot.state.lines.len()).collect();
    /// assert_eq!(lines, [2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn snapshots(
        &self,
        query: HistoryQuery,
    ) -> Result<Vec<Snapshot<F::State>>, ThreadError> {
        let snapshots = self.any.snapshots(query).await?.into_iter();
        Ok(snapshots.map(Snapshot::typed).collect())
    }

    /// The thread as one file, without the values of keys marked `secret`: `[removed]` stands in their places, also where a result, an item
    /// or another key repeats a text of at least four bytes of them. [`ThreadFile`] has an example.
    ///
    /// The thread should rest: of a run in progress, the file may have a part of a superstep.
    ///
    /// # Errors
    ///
    /// [`Unknown`](ThreadError::Unknown) if there is no such thread, or if the store fails. A store that is encrypted fails without its key.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn export(&self) -> Result<ThreadFile, ThreadError> {
        self.any.export(&[]).await
    }

    /// As [`export`](Self::export), also without the values of these keys, by their names in the program: for keys that a program shows to
    /// nobody and that are not marked `secret`. A name that is not that of a key is ignored.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Refund { #[key(input)] iban: String }
    /// # #[node(Refund)]
    /// # async fn pay() {}
    /// # flow!(PayRefund(Refund) { pay });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = PayRefund::new().store(&InMemoryStore::new()).thread("order-7");
    /// thread.run("DE00 1234".to_string()).await?.into_finished()?;
    /// let file = thread.export_without(&["iban".into()]).await?;
    /// assert!(!file.to_string().contains("DE00 1234"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn export_without(&self, keys: &[String]) -> Result<ThreadFile, ThreadError> {
        self.any.export(keys).await
    }

    /// What the store lists of the thread: its status, labels, times and size. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If the store fails, or what it lists of the thread is damaged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn info(&self) -> Result<Option<ThreadInfo>, ThreadError> {
        self.any.info().await
    }

    /// Sets the labels of the thread, in the place of all earlier ones: names with values, by which threads can be
    /// [listed](crate::checkpoint::ThreadQuery::label). The thread need not exist yet. Labels are not protected by
    /// `petalflow-encryption`.
    ///
    /// # Errors
    ///
    /// If a name or a value has more than 255 bytes or a NUL, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the labels as before the call or as after it.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadQuery;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Talk::new().store(&InMemoryStore::new());
    /// let thread = threads.thread("42");
    /// thread.set_labels([("user", "ann")]).await?;
    /// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let of_ann = ThreadQuery { label: Some(("user", "ann")), ..ThreadQuery::default() };
    /// assert_eq!(threads.list(of_ann).await?[0].id, "42");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_labels<N: Into<String>, V: Into<String>>(
        &self,
        labels: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), ThreadError> {
        let labels = labels
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let labels: BTreeMap<String, String> = labels.collect();
        self.any.set_labels(labels).await
    }
}
