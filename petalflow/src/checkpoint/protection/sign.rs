//! Signed payloads: readable by anyone, made and changed only by those with the key.

use std::fmt;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::key::{Use, hmac};
use super::ring::{Entry, Ring};
use super::sealed::{self, Algorithm};
use super::{KeyError, Protection, SecretKey};
use crate::checkpoint::StoreError;

/// How long a signature is, in bytes.
const TAG: usize = 32;

/// Signs what is stored (HMAC-SHA-256): who can write to the store cannot make up checkpoints, change them or move them to
/// another thread. Who can read the store can read them; `Encryption` prevents that as well.
///
/// It does not notice that something is missing, or that a whole store was put back to what it was before.
///
/// ```
/// use petalflow::checkpoint::{Protection, SecretKey, Signing};
///
/// let signing = Signing::new(SecretKey::generate()?);
/// let sealed = signing.seal(b"thread 1", b"payload".to_vec())?;
/// assert_eq!(signing.open(b"thread 1", sealed.clone())?, b"payload");
///
/// let moved = signing.open(b"thread 2", sealed).unwrap_err();
/// assert!(moved.to_string().contains("its seal does not fit"));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
pub struct Signing(Ring<Hmac<Sha256>>);

impl Signing {
    /// Signs with this key, and accepts what it has signed.
    ///
    /// ```
    /// use petalflow::checkpoint::{SecretKey, Signing};
    ///
    /// let key = SecretKey::from_bytes([7; 32]).with_id("2026-11")?;
    /// assert_eq!(format!("{:?}", Signing::new(key)), r#"Signing(["2026-11"])"#);
    /// # Ok::<(), petalflow::checkpoint::KeyError>(())
    /// ```
    pub fn new(key: SecretKey) -> Self {
        Signing(Ring::new(&key, hmac(&key.derive(Use::Sign))))
    }

    /// Accepts what another key has signed as well, and never signs with it. To change keys, first let all processes accept
    /// the new one, then let them sign with it; the old one can go when nothing that it has signed is needed any more.
    ///
    /// ```
    /// use petalflow::checkpoint::{Protection, SecretKey, Signing};
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
        self.0.also_accept(&key, hmac(&key.derive(Use::Sign)))?;
        Ok(self)
    }
}

impl Protection for Signing {
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
        // In constant time, so that no one learns how much of a guess was right.
        if mac(key, header, context, payload)
            .verify_slice(tag)
            .is_err()
        {
            return Err(sealed::unfit(id));
        }
        let start = header.len();
        bytes.truncate(bytes.len() - TAG);
        bytes.drain(..start);
        Ok(bytes)
    }
}

/// What is signed: the header, where the payload stands, and the payload. A header tells its own length, and the context's
/// is written before it: no other three parts are the same bytes.
fn mac(key: &Entry<Hmac<Sha256>>, header: &[u8], context: &[u8], payload: &[u8]) -> Hmac<Sha256> {
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

    /// Computed with Python's `hmac`, by the form as documented.
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
