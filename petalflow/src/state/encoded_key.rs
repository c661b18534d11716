//! The keys of a state in their stored form.

use std::fmt;

use super::{KeyFlag, State};
use petalflow_store::codec::{CodecError, Json};

/// The value of one key in its stored form. See [`encode_keys`].
#[derive(Clone, Debug)]
pub struct EncodedKey {
    name: &'static str,
    bytes: Vec<u8>,
}

/// Encodes the keys of a state in the same way as checkpoints, without the keys that are never stored. For tools and
/// tests that compare or print states of any type.
///
/// ```
/// use petalflow::state::encode_keys;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     topic: String,
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// let essay = Essay { topic: "petals".into(), notes: vec!["soft".into()] };
/// let keys = encode_keys(&essay)?;
/// assert_eq!((keys[0].name(), keys[0].to_string()), ("topic", "\"petals\"".into()));
/// assert_eq!((keys[1].name(), keys[1].to_string()), ("notes", "[\"soft\"]".into()));
/// # Ok::<(), petalflow::BoxError>(())
/// ```
///
/// # Errors
///
/// Fails if the state is [`Volatile`](crate::state::Volatile) or if the serialization of a value fails. The error
/// contains the name of the key.
pub fn encode_keys<S: State>(state: &S) -> Result<Vec<EncodedKey>, CodecError> {
    let codec = S::codec()
        .ok_or_else(|| CodecError::Encode(format!("the state `{}` is volatile", S::NAME)))?;
    let keys = S::KEYS.iter().enumerate();
    keys.filter(|(_, key)| !key.has(KeyFlag::Untracked))
        .map(|(index, key)| {
            let mut bytes = Vec::new();
            (codec.save)(state, index, &mut bytes)
                .map_err(|error| CodecError::Encode(format!("key `{}`: {error}", key.name)))?;
            Ok(EncodedKey {
                name: key.name,
                bytes,
            })
        })
        .collect()
}

impl EncodedKey {
    /// The name of the key.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The encoded value.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Compares values if possible, and otherwise bytes: the order of the entries of a hash map differs between processes.
impl PartialEq for EncodedKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Json(&self.bytes) == Json(&other.bytes)
    }
}

/// The value as JSON, or its bytes if they are not a value.
impl fmt::Display for EncodedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Json(&self.bytes).fmt(f)
    }
}
