//! Encrypted payloads.

use std::fmt;

use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use petalflow::checkpoint::StoreError;

use crate::key::{KeyUse, random};
use crate::key_ring::KeyRing;
use crate::sealed::{self, Algorithm};
use crate::{KeyError, Protection, SecretKey};

/// The length of a nonce, in bytes. Random nonces of this length do not repeat.
const NONCE: usize = 24;

/// The length of a tag, in bytes.
const TAG: usize = 16;

/// Encrypts payloads (XChaCha20-Poly1305). A reader of the store learns only how long checkpoints are, when they were made,
/// and for which threads and nodes. A writer to the store cannot forge checkpoints, change them or move them to another
/// thread.
///
/// It does not detect that a payload is missing, or that a whole store was replaced by an older copy.
///
/// ```
/// use petalflow_encryption::{Encryption, Protection, SecretKey};
///
/// let encryption = Encryption::new(SecretKey::generate()?);
/// let sealed = encryption.seal(b"thread 1", b"payload".to_vec())?;
/// assert_eq!(encryption.open(b"thread 1", sealed.clone())?, b"payload");
///
/// let moved = encryption.open(b"thread 2", sealed).unwrap_err();
/// assert!(moved.to_string().contains("its seal does not fit"));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
pub struct Encryption(KeyRing<XChaCha20Poly1305>);

impl Encryption {
    /// Encrypts with this key, and opens what was encrypted with it.
    ///
    /// ```
    /// use petalflow_encryption::{Encryption, SecretKey};
    ///
    /// let key = SecretKey::from_bytes([7; 32]).with_id("2026-11")?;
    /// assert_eq!(format!("{:?}", Encryption::new(key)), r#"Encryption(["2026-11"])"#);
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    pub fn new(key: SecretKey) -> Self {
        Encryption(KeyRing::new(&key, cipher(&key)))
    }

    /// Also opens what was encrypted with this key, but never encrypts with it. To change keys, first let all processes
    /// accept the new key, then let them encrypt with it. Remove the old key when nothing that was encrypted with it is
    /// needed any more.
    ///
    /// ```
    /// use petalflow_encryption::{Encryption, Protection, SecretKey};
    ///
    /// let (old, new) = (SecretKey::generate()?, SecretKey::generate()?);
    /// let sealed = Encryption::new(old.clone()).seal(b"", b"payload".to_vec())?;
    /// assert!(Encryption::new(new.clone()).open(b"", sealed.clone()).is_err());
    ///
    /// let both = Encryption::new(new).also_accept(old)?;
    /// assert_eq!(both.open(b"", sealed)?, b"payload");
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SameId`](KeyError::SameId) if a different key has the same id.
    pub fn also_accept(mut self, key: SecretKey) -> Result<Self, KeyError> {
        self.0.also_accept(&key, cipher(&key))?;
        Ok(self)
    }

    /// Seals with a nonce, which must never be used again with the same key.
    fn seal_with_nonce(
        &self,
        nonce: &[u8; NONCE],
        context: &[u8],
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, StoreError> {
        let key = self.0.newest();
        let rest = NONCE + bytes.len() + TAG;
        let mut sealed = sealed::header(Algorithm::XChaCha20Poly1305, &key.id, rest);
        let associated = [&sealed, context].concat();
        let tag = key
            .cipher
            .encrypt_inout_detached(nonce.into(), &associated, bytes.as_mut_slice().into())
            .map_err(|_| {
                StoreError::Protection(
                    "it is longer than 256 GiB, which is too long to be encrypted".into(),
                )
            })?;
        sealed.extend_from_slice(nonce);
        sealed.extend_from_slice(&bytes);
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }
}

impl Protection for Encryption {
    fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0; NONCE];
        random(&mut nonce).map_err(|error| StoreError::Other(error.into()))?;
        self.seal_with_nonce(&nonce, context, bytes)
    }

    fn open(&self, context: &[u8], mut bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let (header, id, rest) = sealed::split(Algorithm::XChaCha20Poly1305, &bytes)?;
        let Some((nonce, rest)) = rest.split_first_chunk::<NONCE>() else {
            return Err(sealed::cut_short());
        };
        let Some((_, tag)) = rest.split_last_chunk::<TAG>() else {
            return Err(sealed::cut_short());
        };
        let key = self.0.get(id)?;
        // A header contains its own length, so no other header and context have the same bytes.
        let associated = [header, context].concat();
        let (nonce, tag) = (XNonce::from(*nonce), (*tag).into());
        let (start, end) = (header.len() + NONCE, bytes.len() - TAG);
        if key
            .cipher
            .decrypt_inout_detached(&nonce, &associated, (&mut bytes[start..end]).into(), &tag)
            .is_err()
        {
            return Err(sealed::does_not_fit(&key.id));
        }
        bytes.truncate(end);
        bytes.drain(..start);
        Ok(bytes)
    }
}

fn cipher(key: &SecretKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new((&*key.derive(KeyUse::Encrypt)).into())
}

impl fmt::Debug for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Encryption").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed from the documented form with Python's `cryptography` and an `HChaCha20` that passes the draft's test vector.
    const SEALED: &[u8] = b"\xc1PFS\x01\x02\x072026-11@ABCDEFGHIJKLMNOPQRSTUVW\
        \x0e\x51\x7f\x9c\x78\x3a\xc0\
        \x1b\xb9\x4f\x4e\xea\x69\xff\x33\x55\xd8\x86\xb8\xa6\xfc\x71\x8d";

    fn encryption() -> Encryption {
        let key = SecretKey::from_bytes(std::array::from_fn(|at| u8::try_from(at).unwrap()));
        Encryption::new(key.with_id("2026-11").unwrap())
    }

    #[test]
    fn the_form_is_the_same_in_all_releases() {
        let sealed = encryption().seal_with_nonce(
            b"@ABCDEFGHIJKLMNOPQRSTUVW",
            b"essay-42",
            b"payload".to_vec(),
        );
        assert_eq!(sealed.unwrap(), SEALED);
        assert_eq!(
            encryption().open(b"essay-42", SEALED.to_vec()).unwrap(),
            b"payload"
        );
    }

    #[test]
    fn the_same_payload_is_never_sealed_to_the_same_bytes() {
        let payload = b"a payload that is long enough to be recognized".to_vec();
        let sealed = [(); 2].map(|()| encryption().seal(b"", payload.clone()).unwrap());
        assert_ne!(sealed[0], sealed[1]);
        let shows = |sealed: &Vec<u8>| {
            sealed
                .windows(8)
                .any(|part| payload.windows(8).any(|known| known == part))
        };
        assert!(!sealed.iter().any(shows));
    }
}
