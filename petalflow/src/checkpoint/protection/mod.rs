//! Sealing what is stored.

#[cfg(feature = "encrypt")]
mod encrypt;
#[cfg(any(feature = "sign", feature = "encrypt"))]
mod key;
#[cfg(any(feature = "sign", feature = "encrypt"))]
mod ring;
#[cfg(any(feature = "sign", feature = "encrypt"))]
mod sealed;
#[cfg(feature = "sign")]
mod sign;
#[cfg(all(test, feature = "sign", feature = "encrypt"))]
mod tests;

use super::StoreError;

#[cfg(feature = "encrypt")]
pub use encrypt::Encryption;
#[cfg(any(feature = "sign", feature = "encrypt"))]
pub use key::{KeyError, SecretKey};
#[cfg(feature = "sign")]
pub use sign::Signing;

/// Begins each payload that one of petalflow's own protections has sealed. Its first byte begins no stored value and is the
/// number of no layout of checkpoints: what is not sealed, or is unexpectedly, is told apart by a clear error, though never
/// trusted because of it.
pub(super) const MARKER: [u8; 4] = [0xc1, b'P', b'F', b'S'];

/// Signs or encrypts what goes into a store, and refuses what comes out of it unsealed or changed.
///
/// Petalflow brings two, as features: `Signing` (`sign`) and `Encryption` (`encrypt`), whose bytes are described in
/// `docs/reference/checkpoint-format.md`. Implement it for another, say one that asks a key service:
///
/// ```
/// use petalflow::checkpoint::{Protection, StoreError};
///
/// # struct Remote;
/// # impl Remote {
/// #     fn mac(&self, context: &[u8], bytes: &[u8]) -> [u8; 1] {
/// #         [context.iter().chain(bytes).fold(0, |sum, byte| sum ^ byte)]
/// #     }
/// # }
/// /// Puts a code in front that a service in another room computes.
/// struct Notary(Remote);
///
/// impl Protection for Notary {
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
/// let notary = Notary(Remote);
/// let sealed = notary.seal(b"thread 1", b"payload".to_vec())?;
/// assert_eq!(notary.open(b"thread 1", sealed.clone())?, b"payload");
/// assert!(notary.open(b"thread 2", sealed).is_err());
/// # Ok::<(), StoreError>(())
/// ```
pub trait Protection: Send + Sync + 'static {
    /// Seals bytes. What is sealed opens only with the same `context`: it says where the bytes stand, so that they cannot be
    /// moved to another place.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if there is no key to seal with, [`Other`](StoreError::Other) if something
    /// that sealing needs has failed.
    fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Opens what was sealed.
    ///
    /// # Errors
    ///
    /// [`Protection`](StoreError::Protection) if the bytes are not sealed, not by a key that is known, not for this context,
    /// or were changed.
    fn open(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError>;
}
