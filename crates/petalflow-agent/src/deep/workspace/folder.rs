//! Files in a folder, which no path and no link leaves.

use std::hash::Hasher as _;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::change::Change;
use super::file_change::FileChange;
use super::listing::{Listing, MAX_BYTES, MAX_FILES};
use super::path::is_hidden;
use crate::deep::error::DeepError;
use petalflow::BoxError;
use petalflow::event::CustomEvent;
use petalflow::tool::ToolContext;

/// The name of the record of a change: see [`Context::once`].
const RECORD: &str = "petalflow:change of a file";

#[derive(Debug)]
pub(super) struct Folder {
    /// Its operations resolve paths and links below it only.
    dir: Dir,
    path: PathBuf,
    /// Held while a file is compared and replaced.
    changing: Mutex<()>,
}

/// A change that has been decided and not yet made: the file before and after it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Planned {
    before: Option<Checksum>,
    after: Checksum,
}

/// The texts of a file before and after a change.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) before: Option<String>,
    pub(super) after: String,
}

/// A checksum of a text. It never changes, because it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Checksum(u64, u64);

impl Checksum {
    fn of(text: &str) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(text.as_bytes());
        let hash = hasher.finish128();
        Checksum(hash.h1, hash.h2)
    }
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, DeepError> {
        let dir = Dir::open_ambient_dir(path, ambient_authority());
        let dir = dir.map_err(|source| DeepError::Folder {
            path: path.into(),
            source,
        })?;
        Ok(Folder {
            dir,
            path: path.into(),
            changing: Mutex::default(),
        })
    }

    pub(super) async fn list(self: &Arc<Self>) -> Result<Listing, BoxError> {
        self.blocking(Folder::listing).await
    }

    pub(super) async fn text(self: &Arc<Self>, path: &str) -> Result<Option<String>, BoxError> {
        let path = path.to_string();
        self.blocking(move |folder| folder.read(&path)).await
    }

    /// Changes a file. The texts before and after are recorded first, as checksums: a repetition after a crash sees whether the
    /// file is already as it should be.
    pub(super) async fn change(
        self: &Arc<Self>,
        cx: &ToolContext,
        path: &str,
        change: Change,
    ) -> Result<(), BoxError> {
        let change = Arc::new((path.to_string(), change));
        let planned = Arc::clone(&change);
        let planning = self.blocking(move |folder| folder.plan(&planned.0, &planned.1));
        let planned = match cx.context() {
            Some(run) => run.once(RECORD, planning).await?,
            None => planning.await?,
        };
        let made = self.blocking(move |folder| folder.make(&change.0, &change.1, planned));
        if let Some(Made { before, after }) = made.await? {
            let change = FileChange::new(&cx.call_id, path, before, after);
            cx.emit(CustomEvent::named("agent_file", change).transient());
        }
        Ok(())
    }

    /// The file before and after a change that is not made. The errors are those of the change.
    pub(super) async fn preview(
        self: &Arc<Self>,
        path: &str,
        change: Change,
    ) -> Result<Made, BoxError> {
        let path = path.to_string();
        self.blocking(move |folder| {
            let before = folder.read(&path)?;
            let after = change.apply(&path, before.as_deref())?;
            Ok(Made { before, after })
        })
        .await
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn plan(&self, path: &str, change: &Change) -> Result<Planned, BoxError> {
        let before = self.read(path)?;
        let after = change.apply(path, before.as_deref())?;
        Ok(Planned {
            before: before.as_deref().map(Checksum::of),
            after: Checksum::of(&after),
        })
    }

    /// Makes a planned change. `None` if it is made already.
    fn make(
        &self,
        path: &str,
        change: &Change,
        planned: Planned,
    ) -> Result<Option<Made>, BoxError> {
        let _changing = self.changing();
        let now = self.read(path)?;
        let checksum = now.as_deref().map(Checksum::of);
        if checksum == Some(planned.after) {
            return Ok(None);
        }
        if checksum != planned.before {
            return Err(format!(
                "`{path}` was changed by something else in the meantime, so it is unknown whether this change was made: read it \
                 again"
            )
            .into());
        }
        let after = change.apply(path, now.as_deref())?;
        self.replace(path, &after)
            .map_err(|error| format!("`{path}` cannot be written: {error}"))?;
        Ok(Some(Made { before: now, after }))
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        // It protects no value.
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, path: &str) -> Result<Option<String>, BoxError> {
        let failed = |error: io::Error| format!("`{path}` cannot be read: {error}");
        let metadata = match self.dir.metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error).into()),
        };
        // Before it is opened: a pipe would wait for a writer.
        if !metadata.is_file() {
            return Err(format!("`{path}` is no file").into());
        }
        let file = self.dir.open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        let limit = MAX_BYTES as u64;
        file.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        if bytes.len() > MAX_BYTES {
            return Err(format!(
                "`{path}` has {} bytes, and files of at most {MAX_BYTES} are read",
                metadata.len()
            )
            .into());
        }
        let text = String::from_utf8(bytes);
        Ok(Some(text.map_err(|_| format!("`{path}` is no text"))?))
    }

    /// Replaces a file as a whole: whoever reads it gets the old text or the new one, also after a crash.
    fn replace(&self, path: &str, text: &str) -> io::Result<()> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if !parent.is_empty() {
            self.dir.create_dir_all(parent)?;
        }
        let dir = if parent.is_empty() {
            self.dir.try_clone()?
        } else {
            self.dir.open_dir(parent)?
        };
        // Hidden, so it is no file of the workspace. One that a crash has left is written over.
        let new = format!(".{name}.{}.new", std::process::id());
        let mut options = OpenOptions::new();
        let mut file = dir.open_with(&new, options.write(true).create(true).truncate(true))?;
        file.write_all(text.as_bytes())?;
        if let Ok(metadata) = dir.metadata(name) {
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        dir.rename(&new, &dir, name)?;
        // Only Unix can sync a folder.
        if cfg!(unix) {
            dir.open(".")?.sync_all()?;
        }
        Ok(())
    }

    /// The files below the folder. Links are left out: what they lead to is listed where it is.
    fn listing(&self) -> Result<Listing, BoxError> {
        let failed = |error: io::Error| {
            format!(
                "the folder `{}` cannot be listed: {error}",
                self.path.display()
            )
        };
        let mut paths = Vec::new();
        let mut folders = vec![(String::new(), self.dir.try_clone().map_err(failed)?)];
        while let Some((prefix, folder)) = folders.pop() {
            for entry in folder.entries().map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if is_hidden(&name) {
                    continue;
                }
                let kind = entry.file_type().map_err(failed)?;
                let path = format!("{prefix}{name}");
                if kind.is_dir() {
                    folders.push((format!("{path}/"), entry.open_dir().map_err(failed)?));
                } else if kind.is_file() {
                    paths.push(path);
                }
            }
            if paths.len() > MAX_FILES {
                break;
            }
        }
        paths.sort();
        let is_cut = paths.len() > MAX_FILES;
        paths.truncate(MAX_FILES);
        Ok(Listing { paths, is_cut })
    }

    /// Runs file operations on a thread for them.
    async fn blocking<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Folder) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, BoxError> {
        let folder = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&folder)).await?
    }
}
