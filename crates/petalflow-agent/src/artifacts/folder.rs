//! Artifacts in a folder.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use petalflow::async_trait;

use super::name::{decoded, encoded};
use super::{ArtifactError, ArtifactStore, Owner, Place};

/// The begin of the names of folders with an artifact.
const ARTIFACT: &str = "a-";

/// Stores artifacts in a folder: a folder for each owner, in it one for each artifact, and in it a file for each version.
///
/// Each file begins with a line that has the media type; the bytes follow. A file is written under another name, synced
/// and then linked, so no other process sees a part of it. Several processes can use one folder.
///
/// ```
/// use petalflow_agent::artifacts::{Artifacts, Folder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let files = Artifacts::new(Folder::new(dir)).thread("ann")?;
/// files.write("note", "text/plain", b"hello").await?;
/// assert_eq!(files.read("note").await?.ok_or("missing")?.text()?, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The artifacts in this folder. It is created by the first write.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Folder(path.into())
    }

    fn of_owner(&self, owner: &Owner) -> PathBuf {
        self.0.join(owner.key())
    }

    fn of_artifact(&self, place: &Place) -> PathBuf {
        let name = format!("{ARTIFACT}{}", encoded(&place.name));
        self.of_owner(&place.owner).join(name)
    }

    /// Runs file operations on a thread for them.
    async fn blocking<T: Send + 'static>(
        what: String,
        work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ArtifactError> {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Failure::Io(error))) => Err(ArtifactError::store(what, error)),
            Ok(Err(Failure::Artifact(error))) => Err(error),
            Err(error) => Err(ArtifactError::store(what, error)),
        }
    }
}

enum Failure {
    Io(io::Error),
    Artifact(ArtifactError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

#[async_trait]
impl ArtifactStore for Folder {
    async fn add(
        &self,
        place: &Place,
        version: u32,
        bytes: Vec<u8>,
    ) -> Result<bool, ArtifactError> {
        let folder = self.of_artifact(place);
        let what = format!(
            "artifact `{}` cannot be written to `{}`",
            place.name,
            folder.display()
        );
        Self::blocking(what, move || Ok(add(&folder, version, &bytes)?)).await
    }

    async fn newest(&self, place: &Place) -> Result<Option<u32>, ArtifactError> {
        let folder = self.of_artifact(place);
        let what = format!(
            "artifact `{}` cannot be read from `{}`",
            place.name,
            folder.display()
        );
        Self::blocking(what, move || Ok(newest(&folder)?)).await
    }

    async fn get(
        &self,
        place: &Place,
        version: u32,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, ArtifactError> {
        let file = self.of_artifact(place).join(file_name(version));
        let what = format!(
            "artifact `{}` cannot be read from `{}`",
            place.name,
            file.display()
        );
        let name = place.name.clone();
        let read = move || {
            let Some(file) = existing(File::open(&file))? else {
                return Ok(None);
            };
            let mut bytes = Vec::new();
            let length = file.metadata()?.len();
            if length > limit {
                return Err(Failure::Artifact(ArtifactError::TooLarge {
                    name,
                    bytes: length,
                    limit,
                }));
            }
            file.take(limit).read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        };
        Self::blocking(what, read).await
    }

    async fn names(&self, owner: &Owner) -> Result<Vec<String>, ArtifactError> {
        let folder = self.of_owner(owner);
        let what = format!("the artifacts in `{}` cannot be listed", folder.display());
        let list = move || {
            let mut names = Vec::new();
            for entry in existing(fs::read_dir(&folder))?.into_iter().flatten() {
                let name = entry?.file_name();
                let name = name.to_str().and_then(|name| name.strip_prefix(ARTIFACT));
                let Some(name) = name else { continue };
                // A folder without a version is left by a write that did not finish.
                if newest(&folder.join(format!("{ARTIFACT}{name}")))?.is_some() {
                    names.extend(decoded(name));
                }
            }
            names.sort_unstable();
            Ok(names)
        };
        Self::blocking(what, list).await
    }

    async fn delete(&self, place: &Place) -> Result<bool, ArtifactError> {
        let folder = self.of_artifact(place);
        let what = format!(
            "artifact `{}` cannot be deleted from `{}`",
            place.name,
            folder.display()
        );
        let delete = move || {
            let existed = newest(&folder)?.is_some();
            let removed = folder.with_file_name(temporary("deleted"));
            // Renamed first: no other process sees a part of the versions.
            if existing(fs::rename(&folder, &removed))?.is_some() {
                fs::remove_dir_all(&removed)?;
            }
            Ok(existed)
        };
        Self::blocking(what, delete).await
    }
}

/// Writes a version, unless it exists.
fn add(folder: &Path, version: u32, bytes: &[u8]) -> io::Result<bool> {
    fs::create_dir_all(folder)?;
    let new = folder.join(temporary("new"));
    let written = (|| {
        let mut file = File::create_new(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        // `hard_link` fails if the version exists. `rename` would overwrite it.
        match fs::hard_link(&new, folder.join(file_name(version))) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    })();
    // What stays after a crash is not a version, and is removed with the artifact.
    let removed = fs::remove_file(&new);
    if written? {
        removed?;
        sync_folder(folder)?;
        return Ok(true);
    }
    Ok(false)
}

/// Makes the link durable. Only Unix can open a folder for this.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The number of the newest version.
fn newest(folder: &Path) -> io::Result<Option<u32>> {
    let mut newest = None;
    for entry in existing(fs::read_dir(folder))?.into_iter().flatten() {
        let name = entry?.file_name();
        let version = name.to_str().and_then(|name| name.parse::<u32>().ok());
        newest = newest.max(version);
    }
    Ok(newest)
}

fn file_name(version: u32) -> String {
    format!("{version:010}")
}

/// A name that no other write uses, in any process.
fn temporary(what: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!(".{what}-{}-{nanos}-{number}", std::process::id())
}

/// The result, or `None` if there is no such file.
fn existing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
