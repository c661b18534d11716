//! The version of the document that a thread is run with.

use crate::checkpoint::document_version::DocumentVersion;
use crate::checkpoint::{ThreadInfo, ThreadStatus, ThreadStorage};
use crate::outcome::ThreadError;

/// The document of a run, and the version of it with which the thread was stored.
pub(in crate::durable) struct ThreadDocument {
    version: DocumentVersion,
    stored: Option<ThreadInfo>,
}

impl ThreadDocument {
    /// Reads the stored version. Fails if the thread is resumed and is pinned to another version.
    pub(in crate::durable) async fn open(
        version: DocumentVersion,
        storage: &ThreadStorage,
        resumes: bool,
    ) -> Result<Self, ThreadError> {
        let stored = storage.info().await?;
        let document = ThreadDocument { version, stored };
        if resumes {
            document.check_pinned()?;
        }
        Ok(document)
    }

    /// The stored version, if it is another one.
    fn other_version(&self) -> Option<&str> {
        let label = self.stored.as_ref()?.labels.get(DocumentVersion::LABEL)?;
        (*label != self.version.to_string()).then_some(label)
    }

    /// A thread whose turn has ended continues with nothing of the old version.
    fn check_pinned(&self) -> Result<(), ThreadError> {
        match (&self.stored, self.other_version()) {
            (Some(info), Some(other))
                if self.version.is_pinned() && info.status != ThreadStatus::Finished =>
            {
                Err(ThreadError::Changed {
                    thread: info.id.clone(),
                    problem: format!(
                        "{}, and threads are pinned to their version: resume it with version {other}, accept the new \
                     one (do not call `DocumentVersion::pinned`), or begin a new turn with `.run(..).discard_pending()`",
                        self.versions(other)
                    ),
                    diff: Vec::new(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Adds the versions of the document to an error about a changed program.
    pub(in crate::durable) fn explain(&self, error: ThreadError) -> ThreadError {
        match (error, self.other_version()) {
            (
                ThreadError::Changed {
                    thread,
                    problem,
                    diff,
                },
                Some(other),
            ) => ThreadError::Changed {
                thread,
                problem: format!(
                    "{}, and they do not fit: {problem}. Resume it with version {other} of the document, or accept \
                     the new one with a new turn, `.run(..).discard_pending()`",
                    self.versions(other)
                ),
                diff,
            },
            (error, _) => error,
        }
    }

    fn versions(&self, other: &str) -> String {
        format!(
            "it was run with version {other} of the document `{}`, and this is version {}",
            self.version.document(),
            self.version
        )
    }

    /// Stores the version, if the thread has another one or none. The thread has a checkpoint.
    pub(in crate::durable) async fn store(
        self,
        storage: &ThreadStorage,
    ) -> Result<(), ThreadError> {
        let version = self.version.to_string();
        // What is listed of a new thread can be read only now.
        let info = match self.stored {
            Some(info) => Some(info),
            None => storage.info().await?,
        };
        if info.as_ref().is_some_and(|info| info.damage.is_some()) {
            // Its labels cannot be read, and would be lost.
            return Ok(());
        }
        let mut labels = info.map(|info| info.labels).unwrap_or_default();
        if labels.get(DocumentVersion::LABEL) == Some(&version) {
            return Ok(());
        }
        labels.insert(DocumentVersion::LABEL.into(), version);
        Ok(storage.set_labels(&labels).await?)
    }
}
