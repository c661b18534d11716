//! The handles to artifacts.

use std::fmt;
use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow::node::ManagedProvider;

use super::{Artifact, ArtifactError, ArtifactStore, InStore, Owner, Place, content, name};

/// How often a write is tried while others write the same artifact.
const TRIES: u32 = 100;

/// The artifacts of all threads and users. A clone is cheap and shares them.
///
/// ```
/// use petalflow_agent::artifacts::{Artifacts, Folder};
///
/// # fn main() -> petalflow::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let artifacts = Artifacts::new(Folder::new(dir)).max_bytes(10_000_000);
/// let of_ann = artifacts.user("ann")?;
/// # let _ = of_ann;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Artifacts {
    store: Arc<dyn ArtifactStore>,
    max_bytes: u64,
}

impl Artifacts {
    /// The artifacts in this store.
    pub fn new(store: impl ArtifactStore) -> Self {
        Artifacts {
            store: Arc::new(store),
            max_bytes: 64 << 20,
        }
    }

    /// Artifacts in memory, for tests.
    pub fn in_memory() -> Self {
        Self::new(InStore::new(InMemoryStore::new()))
    }

    /// Sets the size above which an artifact is not written and not read. Default: 64 MiB.
    ///
    /// ```
    /// use petalflow_agent::artifacts::{ArtifactError, Artifacts};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let files = Artifacts::in_memory().max_bytes(4).thread("ann")?;
    /// let error = files.write("note", "text/plain", b"hello").await.unwrap_err();
    /// assert!(matches!(error, ArtifactError::TooLarge { bytes: 5, limit: 4, .. }));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The artifacts of a thread.
    ///
    /// ```
    /// use petalflow_agent::artifacts::Artifacts;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let artifacts = Artifacts::in_memory();
    /// artifacts.thread("ann")?.write("note", "text/plain", b"hello").await?;
    /// assert_eq!(artifacts.thread("ann")?.list().await?, ["note"]);
    /// assert!(artifacts.user("ann")?.list().await?.is_empty(), "a user with the same id has other artifacts");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the id is empty, or has more than 80 bytes.
    pub fn thread(&self, id: impl Into<String>) -> Result<ArtifactFolder, ArtifactError> {
        self.of(Owner::Thread(id.into()))
    }

    /// The artifacts of a user.
    ///
    /// # Errors
    ///
    /// If the id is empty, or has more than 80 bytes.
    pub fn user(&self, id: impl Into<String>) -> Result<ArtifactFolder, ArtifactError> {
        self.of(Owner::User(id.into()))
    }

    fn of(&self, owner: Owner) -> Result<ArtifactFolder, ArtifactError> {
        owner.check()?;
        Ok(ArtifactFolder {
            artifacts: self.clone(),
            owner,
        })
    }

    /// For [`Launch::manage_with`](petalflow::Launch::manage_with): gives nodes and tools the artifacts of their thread, as
    /// `Managed<ArtifactFolder>`.
    pub fn for_threads(&self) -> ManagedProvider<ArtifactFolder> {
        let artifacts = self.clone();
        ManagedProvider::for_thread(move |cx| std::future::ready(artifacts.thread(cx.thread())))
    }
}

impl fmt::Debug for Artifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Artifacts")
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// The artifacts of one thread or user. Nodes and tools receive it as `Managed<ArtifactFolder>`: see the
/// [crate](crate).
///
/// A name has at most 80 bytes, no `/`, no `\`, no control character, and does not begin with a dot.
///
/// All methods are cancel safe: if a future is dropped, its call has taken full effect or none.
///
/// ```
/// use petalflow_agent::artifacts::Artifacts;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let files = Artifacts::in_memory().thread("ann")?;
/// assert_eq!(files.write("map.svg", "image/svg+xml", b"<svg/>").await?, 1);
/// assert_eq!(files.write("map.svg", "image/svg+xml", b"<svg></svg>").await?, 2);
/// assert_eq!(files.list().await?, ["map.svg"]);
/// assert_eq!(files.versions("map.svg").await?, [1, 2]);
/// assert!(files.delete("map.svg").await?);
/// assert_eq!(files.read("map.svg").await?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ArtifactFolder {
    artifacts: Artifacts,
    owner: Owner,
}

impl ArtifactFolder {
    /// Whose artifacts these are.
    ///
    /// ```
    /// use petalflow_agent::artifacts::{Artifacts, Owner};
    ///
    /// let files = Artifacts::in_memory().thread("ann")?;
    /// assert_eq!(files.owner(), &Owner::Thread("ann".into()));
    /// # Ok::<(), petalflow_agent::artifacts::ArtifactError>(())
    /// ```
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The artifacts of a user, in the same store.
    ///
    /// ```
    /// use petalflow_agent::artifacts::Artifacts;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let artifacts = Artifacts::in_memory();
    /// let of_thread = artifacts.thread("chat-7")?;
    /// of_thread.user("ann")?.write("style", "text/plain", b"short sentences").await?;
    /// assert_eq!(artifacts.user("ann")?.list().await?, ["style"]);
    /// assert!(of_thread.list().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the id is empty, or has more than 80 bytes.
    pub fn user(&self, id: impl Into<String>) -> Result<ArtifactFolder, ArtifactError> {
        self.artifacts.user(id)
    }

    /// Writes a new version, and returns its number.
    ///
    /// # Errors
    ///
    /// If the name or the media type cannot be used, if the bytes are more than the limit, or if the store fails.
    pub async fn write(
        &self,
        name: &str,
        media_type: &str,
        bytes: &[u8],
    ) -> Result<u32, ArtifactError> {
        let place = self.place(name)?;
        content::check(media_type)?;
        let (length, limit) = (bytes.len() as u64, self.artifacts.max_bytes);
        if length > limit {
            return Err(ArtifactError::TooLarge {
                name: name.to_string(),
                bytes: length,
                limit,
            });
        }
        let stored = content::encode(media_type, bytes);
        for _ in 0..TRIES {
            let newest = self.artifacts.store.newest(&place).await?;
            let version = newest.unwrap_or(0) + 1;
            if self
                .artifacts
                .store
                .add(&place, version, stored.clone())
                .await?
            {
                return Ok(version);
            }
        }
        Err(ArtifactError::Busy(name.to_string()))
    }

    /// The newest version; `None` if there is no such artifact.
    ///
    /// # Errors
    ///
    /// If the name cannot be used, if the bytes are more than the limit, or if the store fails.
    pub async fn read(&self, name: &str) -> Result<Option<Artifact>, ArtifactError> {
        match self.artifacts.store.newest(&self.place(name)?).await? {
            Some(version) => self.read_version(name, version).await,
            None => Ok(None),
        }
    }

    /// The version with this number; `None` if there is no such version.
    ///
    /// ```
    /// use petalflow_agent::artifacts::Artifacts;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let files = Artifacts::in_memory().thread("ann")?;
    /// for text in ["first", "second"] {
    ///     files.write("note", "text/plain", text.as_bytes()).await?;
    /// }
    /// assert_eq!(files.read_version("note", 1).await?.ok_or("missing")?.text()?, "first");
    /// assert_eq!(files.read_version("note", 3).await?, None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub async fn read_version(
        &self,
        name: &str,
        version: u32,
    ) -> Result<Option<Artifact>, ArtifactError> {
        let place = self.place(name)?;
        let limit = self.artifacts.max_bytes.saturating_add(content::OVERHEAD);
        let Some(stored) = self.artifacts.store.get(&place, version, limit).await? else {
            return Ok(None);
        };
        let (media_type, bytes) = content::decode(name, stored)?;
        Ok(Some(Artifact {
            name: place.name,
            version,
            media_type,
            bytes,
        }))
    }

    /// The names of the artifacts, in the order of their bytes.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn list(&self) -> Result<Vec<String>, ArtifactError> {
        self.artifacts.store.names(&self.owner).await
    }

    /// The numbers of the versions of an artifact. Empty if there is no such artifact.
    ///
    /// # Errors
    ///
    /// If the name cannot be used, or if the store fails.
    pub async fn versions(&self, name: &str) -> Result<Vec<u32>, ArtifactError> {
        let newest = self.artifacts.store.newest(&self.place(name)?).await?;
        Ok((1..=newest.unwrap_or(0)).collect())
    }

    /// Deletes all versions of an artifact. Returns whether there were some. The next version is 1 again.
    ///
    /// # Errors
    ///
    /// If the name cannot be used, or if the store fails.
    pub async fn delete(&self, name: &str) -> Result<bool, ArtifactError> {
        self.artifacts.store.delete(&self.place(name)?).await
    }

    fn place(&self, name: &str) -> Result<Place, ArtifactError> {
        name::check(name)?;
        Ok(Place {
            owner: self.owner.clone(),
            name: name.to_string(),
        })
    }
}

impl fmt::Debug for ArtifactFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ArtifactFolder").field(&self.owner).finish()
    }
}
