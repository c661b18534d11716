//! Reads a stored thread.

use std::collections::BTreeMap;

use super::AnyThread;
use crate::checkpoint::{StoreError, ThreadChange, ThreadInfo};
use crate::durable;
use crate::event::LoggedEvent;
use crate::future::BoxFuture;
use crate::outcome::ThreadError;
use crate::plan::NodeNames;
use crate::snapshot::{AnySnapshot, CheckpointInfo, HistoryQuery};
use crate::state::KeyFlag;
use crate::thread_file::ThreadFile;

impl AnyThread {
    pub(crate) fn snapshot(&self) -> BoxFuture<'_, Result<Option<AnySnapshot>, ThreadError>> {
        Box::pin(self.read_snapshot(None))
    }

    pub(crate) fn snapshot_at(
        &self,
        checkpoint: u64,
    ) -> BoxFuture<'_, Result<AnySnapshot, ThreadError>> {
        Box::pin(async move {
            let snapshot = self.read_snapshot(Some(checkpoint)).await?;
            snapshot.ok_or_else(|| ThreadError::UnknownCheckpoint {
                thread: self.id.to_string(),
                checkpoint,
            })
        })
    }

    async fn read_snapshot(
        &self,
        checkpoint: Option<u64>,
    ) -> Result<Option<AnySnapshot>, ThreadError> {
        let storage = self.checked()?;
        let flow = &*self.threads.flow;
        ThreadError::catch_panic(Box::pin(durable::snapshot(flow, &storage, checkpoint))).await
    }

    /// The thread as a file, without the values of secret keys.
    /// The thread as one file, without the values of secret keys and of these.
    pub(crate) fn export<'a>(
        &'a self,
        hidden: &'a [String],
    ) -> BoxFuture<'a, Result<ThreadFile, ThreadError>> {
        Box::pin(async move {
            let keys = self.threads.flow.state_type().keys.iter();
            let is_hidden = |name: &str| hidden.iter().any(|hidden| hidden == name);
            let secret = keys.filter(|key| key.has(KeyFlag::Secret) || is_hidden(key.name));
            let removed = secret.map(|key| key.id.to_string()).collect();
            ThreadFile::read(&self.checked()?, removed).await
        })
    }

    pub(crate) fn history(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Vec<CheckpointInfo>, ThreadError>> {
        Box::pin(async move {
            let storage = self.checked()?;
            let plan = self.threads.flow.plan();
            durable::history(&storage, NodeNames::Current(&plan), query).await
        })
    }

    pub(crate) fn snapshots(
        &self,
        query: HistoryQuery,
    ) -> BoxFuture<'_, Result<Vec<AnySnapshot>, ThreadError>> {
        Box::pin(async move {
            let mut snapshots = Vec::new();
            for info in self.history(query).await? {
                // A checkpoint may have been pruned in the meantime.
                snapshots.extend(self.read_snapshot(Some(info.checkpoint)).await?);
            }
            Ok(snapshots)
        })
    }

    pub(crate) fn info(&self) -> BoxFuture<'_, Result<Option<ThreadInfo>, ThreadError>> {
        Box::pin(async move {
            let Some(mut info) = self.checked()?.info().await? else {
                return Ok(None);
            };
            match info.damage.take() {
                Some(problem) => Err(StoreError::Damaged {
                    thread: info.id,
                    problem,
                }
                .into()),
                None => Ok(Some(info)),
            }
        })
    }

    pub(crate) fn set_labels(
        &self,
        labels: BTreeMap<String, String>,
    ) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            let storage = self.checked()?;
            check_labels(&self.id, &labels)?;
            let change = ThreadChange::Labels(&labels);
            Ok(storage.store.describe(&self.id, change, None).await?)
        })
    }

    pub(crate) fn events_since(
        &self,
        number: u64,
    ) -> BoxFuture<'_, Result<Vec<LoggedEvent>, ThreadError>> {
        Box::pin(async move { durable::events_since(&self.checked()?, number).await })
    }

    pub(crate) fn last_event(&self) -> BoxFuture<'_, Result<u64, ThreadError>> {
        Box::pin(async move { durable::last_event(&self.checked()?).await })
    }
}

/// Fails if a store cannot have these labels.
pub(in crate::thread) fn check_labels(
    thread: &str,
    labels: &BTreeMap<String, String>,
) -> Result<(), ThreadError> {
    let mut texts = labels.iter().flat_map(|(name, value)| [name, value]);
    match texts.find(|text| text.len() > 255 || text.contains('\0')) {
        Some(text) => Err(ThreadError::Request(format!(
            "a label of thread `{thread}` has the text {text:?}: use at most 255 bytes, without NUL"
        ))),
        None => Ok(()),
    }
}
