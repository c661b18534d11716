//! Signed payloads.

use std::fmt;

use hmac::{Hmac, Mac as _};
use petalflow::checkpoint::StoreError;
use sha2::Sha256;

use crate::key::{KeyUse, hmac};
use crate::key_ring::{KeyRing, RingKey};
use crate::sealed::{self, Algorithm};
use crate::{KeyError, Protection, SecretKey};

/// The length of a signature, in bytes.
const TAG: usize = 32;

/// Signs payloads (HMAC-SHA-256). A writer to the store cannot forge checkpoints, change them or move them to another thread.
/// A reader of the store can read them; [`Encryption`](crate::Encryption) prevents that as well.
///
/// It does not detect that a payload is missing, or that a whole store was replaced by an older copy.
///
/// ```
/// use petalflow_encryption::{Protection, SecretKey, Signing};
///
/// let signing = Signing::new(SecretKey::generate()?);
/// let sealed = signing.seal(b"thread 1", b"payload".to_vec())?;
/// assert_eq!(signing.open(b"thread 1", sealed.clone())?, b"payload");
///
/// let moved = signing.open(b"thread 2", sealed).unwrap_err();
/// assert!(moved.to_string().contains("its seal does not fit"));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
pub struct Signing(KeyRing<Hmac<Sha256>>);

impl Signing {
    /// Signs with this key, and accepts what was signed with it.
    ///
    /// ```
    /// use petalflow_encryption::{SecretKey, Signing};
    ///
    /// let key = SecretKey::from_bytes([7; 32]).with_id("2026-11")?;
    /// assert_eq!(format!("{:?}", Signing::new(key)), r#"Signing(["2026-11"])"#);
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    pub fn new(key: SecretKey) -> Self {
        Signing(KeyRing::new(&key, hmac(&key.derive(KeyUse::Sign))))
    }

    /// Also accepts what was signed with this key, but never signs with it. To change keys, first let all processes accept
    /// the new key, then let them sign with it. Remove the old key when nothing that was signed with it is needed any more.
    ///
    /// ```
    /// use petalflow_encryption::{Protection, SecretKey, Signing};
    ///
    /// let (old, new) = (SecretKey::generate()?, SecretKey::generate()?);
    /// let sealed = Signing::new(old.clone()).seal(b"", b"payload".to_vec())?;
    /// assert!(Signing::new(new.clone()).open(b"", sealed.clone()).is_err());
    ///
    /// let both = Signing::new(new).also_accept(old)?;
    /// assert_eq!(both.open(b"", sealed)?, b"payload");
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SameId`](KeyError::SameId) if a different key has the same id.
    pub fn also_accept(mut self, key: SecretKey) -> Result<Self, KeyError> {
        self.0.also_accept(&key, hmac(&key.derive(KeyUse::Sign)))?;
        Ok(self)
    }
}

impl Protection for Signing {
    fn hides_contents(&self) -> bool {
        false
    }

    fn seal(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let key = self.0.newest();
        let mut sealed = sealed::header(Algorithm::HmacSha256, &key.id, bytes.len() + TAG);
        let tag = mac(key, &sealed, context, &bytes).finalize().into_bytes();
        sealed.extend_from_slice(&bytes);
        sealed.extend_from_slice(&tag);
        Ok(sealed)
    }

    fn open(&self, context: &[u8], mut bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let (header, id, rest) = sealed::split(Algorithm::HmacSha256, &bytes)?;
        let Some((payload, tag)) = rest.split_last_chunk::<TAG>() else {
            return Err(sealed::cut_short());
        };
        let key = self.0.get(id)?;
        // In constant time: otherwise the time would show how much of a guess was right.
        if mac(key, header, context, payload)
            .verify_slice(tag)
            .is_err()
        {
            return Err(sealed::does_not_fit(id));
        }
        let start = header.len();
        bytes.truncate(bytes.len() - TAG);
        bytes.drain(..start);
        Ok(bytes)
    }
}

/// Signs the header, the context and the payload. The header contains its own length, and the length of the context comes
/// before it, so no other three parts have the same bytes.
fn mac(key: &RingKey<Hmac<Sha256>>, header: &[u8], context: &[u8], payload: &[u8]) -> Hmac<Sha256> {
    let mut mac = key.cipher.clone();
    mac.update(header);
    mac.update(&(context.len() as u64).to_be_bytes());
    mac.update(context);
    mac.update(payload);
    mac
}

impl fmt::Debug for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Signing").field(&self.0).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed from the documented form with Python's `hmac`.
    const SEALED: &[u8] = b"\xc1PFS\x01\x01\x072026-11payload\
        \xbb\x05\x90\x1e\x33\x9f\xc6\x15\xfa\x55\x1e\xc0\x2b\xdb\xb4\x7f\
        \x87\xce\x5e\x36\x2a\x4c\x6c\x73\xd4\xb8\x3b\x79\x43\x31\x53\x70";

    #[test]
    fn the_form_is_the_same_in_all_releases() {
        let key = SecretKey::from_bytes(std::array::from_fn(|at| u8::try_from(at).unwrap()));
        let signing = Signing::new(key.with_id("2026-11").unwrap());
        assert_eq!(
            signing.seal(b"essay-42", b"payload".to_vec()).unwrap(),
            SEALED
        );
        assert_eq!(
            signing.open(b"essay-42", SEALED.to_vec()).unwrap(),
            b"payload"
        );
    }
}
