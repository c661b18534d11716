//! The trait of stores of artifacts.

use super::{ArtifactError, Owner};
use petalflow::async_trait;

/// Whose artifact it is, and its name. Both were checked.
///
/// ```
/// use petalflow_agent::artifacts::{Owner, Place};
///
/// let place = Place { owner: Owner::User("ann".into()), name: "style".into() };
/// assert_eq!(place.clone(), place);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The owner.
    pub owner: Owner,
    /// The name.
    pub name: String,
}

/// Stores artifacts: see [`Folder`](super::Folder) and [`InStore`](super::InStore).
///
/// The versions of an artifact are numbered from 1, without gaps. The bytes of a version are opaque to a store.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_agent::artifacts::{ArtifactStore, InStore, Owner, Place};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InStore::new(InMemoryStore::new());
/// let place = Place { owner: Owner::User("ann".into()), name: "style".into() };
/// assert!(store.add(&place, 1, b"short".to_vec()).await?);
/// assert!(!store.add(&place, 1, b"long".to_vec()).await?, "version 1 exists");
/// assert_eq!(store.newest(&place).await?, Some(1));
/// assert_eq!(store.get(&place, 1, 100).await?, Some(b"short".to_vec()));
/// assert_eq!(store.names(&place.owner).await?, ["style"]);
/// assert!(store.delete(&place).await?);
/// # Ok(())
/// # }
/// ```
///
/// # The contract
///
/// * Each call takes effect completely or not at all, also if the process dies during the call.
/// * When a call has returned, calls that begin later see its effect, in any process.
/// * Dropping a future leaves the store as before the call or as after it.
#[async_trait]
pub trait ArtifactStore: Send + Sync + 'static {
    /// Adds the version with this number. Returns `false`, and changes nothing, if it exists.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn add(&self, place: &Place, version: u32, bytes: Vec<u8>)
    -> Result<bool, ArtifactError>;

    /// The number of the newest version; `None` if there is no such artifact.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn newest(&self, place: &Place) -> Result<Option<u32>, ArtifactError>;

    /// The bytes of a version; `None` if there is no such version.
    ///
    /// # Errors
    ///
    /// If the store fails, or if the bytes are more than `limit`.
    async fn get(
        &self,
        place: &Place,
        version: u32,
        limit: u64,
    ) -> Result<Option<Vec<u8>>, ArtifactError>;

    /// The names of the owner's artifacts, in the order of their bytes.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn names(&self, owner: &Owner) -> Result<Vec<String>, ArtifactError>;

    /// Removes all versions. Returns whether there were some.
    ///
    /// # Errors
    ///
    /// If the store fails.
    async fn delete(&self, place: &Place) -> Result<bool, ArtifactError>;
}
