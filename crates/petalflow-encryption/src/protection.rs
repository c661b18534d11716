//! The trait `Protection`, which seals and opens payloads.

use petalflow::checkpoint::StoreError;

/// Seals payloads for a [`ProtectedStore`](crate::ProtectedStore), and opens them.
///
/// [`Signing`](crate::Signing) and [`Encryption`](crate::Encryption) implement it. Implement it for another protection, for
/// example one that asks a key service:
///
/// ```
/// use petalflow::checkpoint::StoreError;
/// use petalflow_encryption::Protection;
///
/// # struct Remote;
/// # impl Remote {
/// #     fn mac(&self, context: &[u8], bytes: &[u8]) -> [u8; 1] {
/// #         [context.iter().chain(bytes).fold(0, |sum, byte| sum ^ byte)]
/// #     }
/// # }
/// /// Puts a code in front of the payload. A remote service computes the code.
/// struct RemoteSigning(Remote);
///
/// impl Protection for RemoteSigning {
///     fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
///         Ok([&self.0.mac(context, &bytes)[..], &bytes].concat())
///     }
///
///     fn open(&self, context: &[u8], mut bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
///         let Some((mac, payload)) = bytes.split_first_chunk() else {
///             return Err(StoreError::Protection("it has no code".into()));
///         };
///         if *mac != self.0.mac(context, payload) {
///             return Err(StoreError::Protection("its code does not fit".into()));
///         }
///         bytes.drain(..mac.len());
///         Ok(bytes)
///     }
/// }
///
/// let signing = RemoteSigning(Remote);
/// let sealed = signing.seal(b"thread 1", b"payload".to_vec())?;
/// assert_eq!(signing.open(b"thread 1", sealed.clone())?, b"payload");
/// assert!(signing.open(b"thread 2", sealed).is_err());
/// # Ok::<(), StoreError>(())
/// ```
pub trait Protection: Send + Sync + 'static {
    /// Seals a payload. It opens only with the same `context`, which describes its location in the store, so a payload that
    /// was moved to another location does not open.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if there is no key, [`Other`](StoreError::Other) if something that sealing
    /// needs has failed.
    fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Opens a sealed payload.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if the bytes are not sealed, were sealed with an unknown key or for another
    /// context, or were changed.
    fn open(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Whether nobody without the key can read what is sealed. Then the store has no search attributes (`#[key(indexed)]`), whose
    /// values would be in clear in the index of threads. The default is true.
    fn hides_contents(&self) -> bool {
        true
    }
}
