//! Files that change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::exit::{Exit, Failure, Result};

/// An editor writes a file in several steps.
const SETTLE_TIME: Duration = Duration::from_millis(100);

/// The changes of files.
pub(crate) struct FileChanges {
    changes: mpsc::UnboundedReceiver<()>,
    /// Watches until it is dropped.
    _watcher: RecommendedWatcher,
}

impl FileChanges {
    /// Watches the folders of the files, because an editor may put a new file in the place of the old one.
    pub(crate) fn watch(files: &[PathBuf]) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            let text = format_args!("the files cannot be watched: {error}");
            Failure::new(Exit::Failed, text)
        };
        let files: Vec<PathBuf> = files
            .iter()
            .map(|file| file.canonicalize().map_err(|error| failed(&error)))
            .collect::<Result<_>>()?;
        let folders: BTreeSet<PathBuf> = files
            .iter()
            .filter_map(|file| file.parent().map(Path::to_path_buf))
            .collect();
        let (sender, changes) = mpsc::unbounded_channel();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            let is_change = !event.kind.is_access();
            if is_change && event.paths.iter().any(|path| files.contains(path)) {
                // The receiver is gone when the program ends.
                let _ = sender.send(());
            }
        })
        .map_err(|error| failed(&error))?;
        for folder in folders {
            let watched = watcher.watch(&folder, RecursiveMode::NonRecursive);
            watched.map_err(|error| failed(&error))?;
        }
        Ok(FileChanges {
            changes,
            _watcher: watcher,
        })
    }

    /// Waits for the next change, and until the files have not changed for a moment.
    pub(crate) async fn next(&mut self) {
        if self.changes.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
        while let Ok(Some(())) = tokio::time::timeout(SETTLE_TIME, self.changes.recv()).await {}
    }
}
