//! Sealing what is stored.

use super::StoreError;

/// Signs or encrypts what goes into a store, and refuses what comes out of it unsealed or changed.
pub trait Protection: Send + Sync + 'static {
    /// Seals bytes. What is sealed opens only with the same `context`: it says where the bytes stand, so that they cannot be
    /// moved to another place.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if there is no key to seal with.
    fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Opens what was sealed.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if the bytes are not sealed, not by a key that is known, not for this context,
    /// or were changed.
    fn open(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;
}
