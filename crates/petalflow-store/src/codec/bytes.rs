//! Byte strings for serde, which writes a `Vec<u8>` as a list of numbers.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, Visitor};
use serde_core::ser::{Serialize, Serializer};

/// Bytes that are written as a byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<B>(pub B);

impl<B: AsRef<[u8]>> Serialize for Bytes<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_ref())
    }
}

impl<'de> Deserialize<'de> for Bytes<Vec<u8>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Expected;

        impl Visitor<'_> for Expected {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }

        deserializer.deserialize_byte_buf(Expected).map(Bytes)
    }
}
