//! The secret key that seals payloads.

use std::fmt;

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// What a key is used for. Each use has its own key, derived from the secret. So one secret can have several uses, and the
/// id, which is public, reveals nothing about the other keys.
#[derive(Clone, Copy)]
pub(crate) enum KeyUse {
    Id,
    Sign,
    Encrypt,
}

impl KeyUse {
    /// The label that makes the derived keys different. Labels are part of the stored form.
    fn label(self) -> &'static [u8] {
        match self {
            KeyUse::Id => b"petalflow key id",
            KeyUse::Sign => b"petalflow HMAC-SHA-256",
            KeyUse::Encrypt => b"petalflow XChaCha20-Poly1305",
        }
    }
}

/// A secret of 32 random bytes, and the id by which payloads name it. Its memory is erased when it is dropped, except for
/// copies that moves have left. `Debug` shows only the id.
///
/// The id is derived from the secret, so different secrets have different ids. [`with_id`](Self::with_id) sets a readable
/// one.
///
/// ```
/// use petalflow_encryption::SecretKey;
///
/// // Once: make a key and store it with the other secrets of the program. `openssl rand -hex 32` makes one as well.
/// let hex = SecretKey::generate()?.to_hex();
///
/// // Then, in each process: `SecretKey::from_hex(&std::env::var("PETALFLOW_KEY")?)`.
/// let key = SecretKey::from_hex(&hex)?.with_id("2026-11")?;
/// assert_eq!(key.id(), "2026-11");
/// assert_eq!(format!("{key:?}"), r#"SecretKey { id: "2026-11", .. }"#);
/// # Ok::<(), petalflow_encryption::KeyError>(())
/// ```
#[derive(Clone)]
pub struct SecretKey {
    secret: Zeroizing<[u8; 32]>,
    /// 1 to [`Self::LONGEST_ID`] printable ASCII characters.
    id: String,
}

impl SecretKey {
    /// The longest id, in bytes.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// let key = SecretKey::from_bytes([7; 32]);
    /// assert!(key.clone().with_id(&"k".repeat(SecretKey::LONGEST_ID)).is_ok());
    /// assert!(key.with_id(&"k".repeat(SecretKey::LONGEST_ID + 1)).is_err());
    /// ```
    pub const LONGEST_ID: usize = 64;

    /// Makes a key of these bytes, which should be random. The 32 letters of a password are not random.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// let from_a_key_service = [7; 32];
    /// let key = SecretKey::from_bytes(from_a_key_service);
    /// assert_eq!(key.id(), SecretKey::from_bytes([7; 32]).id());
    /// assert_ne!(key.id(), SecretKey::from_bytes([8; 32]).id());
    /// ```
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let mut key = SecretKey {
            secret: Zeroizing::new(bytes),
            id: String::new(),
        };
        // 64 bits: long enough that ids do not collide by accident, and short enough to be read in a log.
        key.id = hex(&key.derive(KeyUse::Id)[..8]);
        key
    }

    /// Reads a key of 64 hexadecimal digits. White space around them is ignored.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// let key = SecretKey::from_hex(&format!("{}\n", "07".repeat(32)))?;
    /// assert_eq!(key.id(), SecretKey::from_bytes([7; 32]).id());
    /// assert!(SecretKey::from_hex("secret").is_err());
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Hex`](KeyError::Hex) if the text is anything else.
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let text = text.trim().as_bytes();
        let problem = KeyError::Hex { found: text.len() };
        let mut secret = Zeroizing::new([0; 32]);
        if text.len() != 2 * secret.len() {
            return Err(problem);
        }
        for (byte, digits) in secret.iter_mut().zip(text.chunks_exact(2)) {
            let &[high, low] = digits else {
                return Err(problem);
            };
            let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                return Err(problem);
            };
            *byte = high << 4 | low;
        }
        Ok(Self::from_bytes(*secret))
    }

    /// Reads a key in Base64, standard or URL-safe, with or without padding. White space around it is ignored.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// let key = SecretKey::from_base64("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=")?;
    /// assert_eq!(key.id(), SecretKey::from_bytes([7; 32]).id());
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Base64`](KeyError::Base64) if the text is anything else, or does not have 32 bytes.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        // 32 bytes are 43 characters and one of padding.
        let digits = text.strip_suffix('=').unwrap_or(text);
        let mut secret = Zeroizing::new([0; 32]);
        let decoded = if digits.contains(['-', '_']) {
            Base64UrlUnpadded::decode(digits, &mut *secret)
        } else {
            Base64Unpadded::decode(digits, &mut *secret)
        };
        match decoded {
            Ok(bytes) if bytes.len() == 32 => Ok(Self::from_bytes(*secret)),
            _ => Err(KeyError::Base64 { found: text.len() }),
        }
    }

    /// Makes a new key of random bytes of the system. Store it, for example with [`to_hex`](Self::to_hex): without the key,
    /// nothing that it has sealed can be opened.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// assert_ne!(SecretKey::generate()?.id(), SecretKey::generate()?.id());
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Random`](KeyError::Random) if the system has no random bytes.
    pub fn generate() -> Result<Self, KeyError> {
        let mut secret = Zeroizing::new([0; 32]);
        random(&mut *secret)?;
        Ok(Self::from_bytes(*secret))
    }

    /// Sets the id: 1 to 64 printable ASCII characters without spaces. Never give two keys the same id.
    ///
    /// Payloads contain the id without encryption, and errors show it.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// let key = SecretKey::from_bytes([7; 32]);
    /// assert_eq!(key.clone().with_id("essays/2026-11")?.id(), "essays/2026-11");
    /// assert!(key.with_id("").is_err());
    /// # Ok::<(), petalflow_encryption::KeyError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Id`](KeyError::Id) if the text is anything else.
    pub fn with_id(mut self, id: &str) -> Result<Self, KeyError> {
        if !is_id(id.as_bytes()) {
            return Err(KeyError::Id { id: id.into() });
        }
        self.id = id.into();
        Ok(self)
    }

    /// The id by which payloads name the key. It is not secret.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// assert_eq!(SecretKey::from_bytes([7; 32]).id(), "73a2c628fd9d70fa");
    /// ```
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The secret itself, in the form that [`from_hex`](Self::from_hex) reads. Use it only to store a generated key.
    ///
    /// ```
    /// use petalflow_encryption::SecretKey;
    ///
    /// assert_eq!(SecretKey::from_bytes([7; 32]).to_hex(), "07".repeat(32));
    /// ```
    pub fn to_hex(&self) -> String {
        hex(&*self.secret)
    }

    /// The key for one use.
    pub(crate) fn derive(&self, wanted: KeyUse) -> Zeroizing<[u8; 32]> {
        let mut mac = hmac(&self.secret);
        mac.update(wanted.label());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }
}

/// The message, which is what `main` prints if it returns the error.
impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Why a key cannot be used. No error shows the secret.
///
/// ```
/// use petalflow_encryption::SecretKey;
///
/// let error = SecretKey::from_hex("hunter2").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "a secret key is written as 64 hexadecimal digits, and this is 7 characters or has others: \
///      `openssl rand -hex 32` makes one",
/// );
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not 64 hexadecimal digits.
    #[error(
        "a secret key is written as 64 hexadecimal digits, and this is {found} characters or has others: `openssl rand -hex 32` makes one"
    )]
    Hex {
        /// How long the text is, in bytes.
        found: usize,
    },
    /// The text is not the Base64 of 32 bytes.
    #[error(
        "a secret key is written as the Base64 of 32 bytes (43 characters), and this is {found} characters or has others: `openssl rand -base64 32` makes one"
    )]
    Base64 {
        /// How long the text is, in bytes.
        found: usize,
    },
    /// The text cannot be the id of a key.
    #[error(
        "`{id}` cannot be the id of a key: it takes 1 to {} printable ASCII characters without spaces",
        SecretKey::LONGEST_ID
    )]
    Id {
        /// The text.
        id: String,
    },
    /// Two keys of a ring have the same id.
    #[error(
        "two different keys have the id `{id}`: give one of them another with `SecretKey::with_id`, the one that has sealed nothing yet"
    )]
    SameId {
        /// The id.
        id: String,
    },
    /// The system has no random bytes.
    #[error("the system's source of randomness failed: {0}")]
    Random(String),
}

/// Whether a key can have this id.
pub(crate) fn is_id(id: &[u8]) -> bool {
    (1..=SecretKey::LONGEST_ID).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

/// HMAC-SHA-256 under a key of 32 bytes.
pub(crate) fn hmac(key: &[u8; 32]) -> Hmac<Sha256> {
    // A block is 64 bytes, and shorter keys are filled up with zeros: that is how HMAC is defined.
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    Hmac::new((&*block).into())
}

/// Fills bytes from the system's source of randomness.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), KeyError> {
    getrandom::fill(bytes).map_err(|error| KeyError::Random(error.to_string()))
}

/// The number of a hexadecimal digit.
fn digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number)]);
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEX: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

    fn secret() -> [u8; 32] {
        std::array::from_fn(|at| u8::try_from(at).unwrap())
    }

    #[test]
    fn the_derived_id_is_the_same_in_all_releases() {
        // Computed with Python's `hmac`.
        assert_eq!(SecretKey::from_bytes(secret()).id(), "82d6a42136e2a7f3");
    }

    #[test]
    fn a_key_is_read_from_all_common_forms() {
        let upper = HEX.to_uppercase();
        for text in [HEX, &upper, &format!("  {HEX}\r\n")] {
            assert_eq!(*SecretKey::from_hex(text).unwrap().secret, secret());
        }
        // Bytes whose digits are `+` and `/`, or `-` and `_` in the form for URLs.
        let bytes: [u8; 32] =
            std::array::from_fn(|at| 0xfb_u8.wrapping_add(4 * (u8::try_from(at % 2).unwrap())));
        let standard = "+//7//v/+//7//v/+//7//v/+//7//v/+//7//v/+/8";
        let url = standard.replace('+', "-").replace('/', "_");
        for text in [
            standard.into(),
            format!("{standard}="),
            url.clone(),
            format!("\t{url}=\n"),
        ] {
            assert_eq!(
                *SecretKey::from_base64(&text).unwrap().secret,
                bytes,
                "{text}"
            );
        }
        let key = SecretKey::generate().unwrap();
        assert_eq!(
            key.secret,
            SecretKey::from_hex(&key.to_hex()).unwrap().secret
        );
    }

    #[test]
    fn an_invalid_key_is_refused_and_not_shown() {
        let long = format!("{HEX}0");
        let signs = format!("+{}", &HEX[1..]);
        for text in [
            "",
            "hunter2",
            &HEX[1..],
            &HEX[2..],
            &long,
            &signs,
            &"é".repeat(32),
        ] {
            let error = SecretKey::from_hex(text).unwrap_err();
            assert!(matches!(error, KeyError::Hex { found } if found == text.len()));
            assert!(text.is_empty() || !format!("{error} {error:?}").contains(text));
        }
        let a = |count: usize| "A".repeat(count);
        let mixed = format!("-/{}", a(41));
        for text in [
            "",
            "hunter2",
            HEX,
            &a(42),
            &a(44),
            &format!("{}==", a(43)),
            &mixed,
        ] {
            let error = SecretKey::from_base64(text).unwrap_err();
            assert!(matches!(error, KeyError::Base64 { .. }), "{text}");
            assert!(text.is_empty() || !format!("{error} {error:?}").contains(text));
        }
    }

    #[test]
    fn ids_are_short_and_printable() {
        let key = SecretKey::from_bytes(secret());
        for id in ["a", "2026-11", "kms:essays/1", &"x".repeat(64)] {
            assert_eq!(key.clone().with_id(id).unwrap().id(), id);
        }
        for id in ["", "two words", "new\nline", "é", "nul\0", &"x".repeat(65)] {
            let error = key.clone().with_id(id).unwrap_err();
            assert!(matches!(error, KeyError::Id { .. }), "{id}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let shown = format!(
            "{:?} {:#?}",
            SecretKey::from_bytes(secret()),
            SecretKey::from_bytes(secret())
        );
        assert!(
            !shown.contains("0001") && !shown.contains("0, 1, 2"),
            "{shown}"
        );
    }
}
