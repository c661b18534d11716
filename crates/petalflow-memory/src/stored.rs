//! The form in which databases store entries.
//!
//! A value is JSON. A namespace is bytes that sort like its names.

use super::{Entry, MemoryError, Namespace};

/// The end of each name in a stored path. It sorts before any continuation of a longer name. Therefore paths sort by
/// bytes in the same order as name by name.
const END: [u8; 2] = [0, 1];

/// What separates the path from the key in a sort key. It sorts before any other name.
#[cfg(feature = "postgres")]
const BEFORE_KEY: [u8; 2] = [0, 0];

/// Encodes a path as bytes. Bytes sort like paths, and a prefix of a path is a prefix of the bytes.
pub(crate) fn path(namespace: &Namespace) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in namespace.names() {
        for &byte in name.as_bytes() {
            bytes.push(byte);
            if byte == 0 {
                bytes.push(0xff);
            }
        }
        bytes.extend(END);
    }
    bytes
}

/// Decodes a path.
pub(crate) fn names(bytes: &[u8]) -> Namespace {
    let mut names = Vec::new();
    let mut name = Vec::new();
    let mut bytes = bytes.iter();
    while let Some(&byte) = bytes.next() {
        if byte != 0 {
            name.push(byte);
        } else if bytes.next() == Some(&0xff) {
            name.push(0);
        } else {
            names.push(String::from_utf8_lossy(&std::mem::take(&mut name)).into_owned());
        }
    }
    names.into()
}

/// The bytes that all paths with this prefix sort before: no byte of UTF-8 is above 0xf4.
pub(crate) fn end_of_prefix(path: &[u8]) -> Vec<u8> {
    [path, &[0xff]].concat()
}

/// Encodes a namespace and a key as bytes, which sort like both. Different pairs have different bytes.
#[cfg(feature = "postgres")]
pub(crate) fn sort_key(namespace: &Namespace, key: &str) -> Vec<u8> {
    let mut bytes = path(namespace);
    bytes.extend(BEFORE_KEY);
    bytes.extend_from_slice(key.as_bytes());
    bytes
}

/// Decodes a sort key. `None` if it is damaged.
#[cfg(feature = "postgres")]
pub(crate) fn namespace_and_key(sort_key: &[u8]) -> Option<(Namespace, String)> {
    let mut end = 0;
    // A byte 0 begins a pair, so the pair that ends the path is found pair by pair.
    while !sort_key[end..].starts_with(&BEFORE_KEY) {
        end += if *sort_key.get(end)? == 0 { 2 } else { 1 };
        sort_key.get(end)?;
    }
    let key = String::from_utf8(sort_key[end + BEFORE_KEY.len()..].to_vec()).ok()?;
    Some((names(&sort_key[..end]), key))
}

/// Converts a time to an integer of a database. A time that is too large becomes the largest one.
pub(crate) fn signed(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

/// The columns of an entry, without its namespace and key.
pub(crate) struct Stored {
    pub(crate) value: String,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    pub(crate) expires_ms: Option<u64>,
}

impl Stored {
    pub(crate) fn entry(self, namespace: Namespace, key: String) -> Result<Entry, MemoryError> {
        match serde_json::from_str(&self.value) {
            Ok(value) => Ok(Entry {
                namespace,
                key,
                value,
                created_ms: self.created_ms,
                updated_ms: self.updated_ms,
                expires_ms: self.expires_ms,
            }),
            Err(error) => Err(MemoryError::Damaged {
                namespace,
                key,
                problem: format!("it is not JSON ({error}): put it anew, or restore a backup"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Namespace, end_of_prefix, names, namespace_and_key, path, sort_key};

    const NAME: &str = "[\u{0}\u{1}aé\u{10ffff}]{0,3}";

    proptest! {
        #[test]
        fn paths_compare_as_their_bytes(one in vec(NAME, 0..3), other in vec(NAME, 0..3)) {
            let (one, other) = (Namespace::from(one), Namespace::from(other));
            prop_assert_eq!(&names(&path(&one)), &one);
            prop_assert_eq!(one.cmp(&other), path(&one).cmp(&path(&other)));
            prop_assert_eq!(one.starts_with(&other), path(&one).starts_with(&path(&other)));
        }

        #[test]
        fn places_compare_as_their_bytes(
            one in (vec(NAME, 0..3), NAME),
            other in (vec(NAME, 0..3), NAME),
        ) {
            let one = (Namespace::from(one.0), one.1);
            let other = (Namespace::from(other.0), other.1);
            let (first, second) = (sort_key(&one.0, &one.1), sort_key(&other.0, &other.1));
            prop_assert_eq!(one.cmp(&other), first.cmp(&second));
            let range = path(&other.0)..end_of_prefix(&path(&other.0));
            prop_assert_eq!(one.0.starts_with(&other.0), range.contains(&first));
            prop_assert_eq!(namespace_and_key(&first), Some(one));
        }

        #[test]
        fn damaged_places_are_refused(bytes in vec(any::<u8>(), 0..6)) {
            if let Some((namespace, key)) = namespace_and_key(&bytes) {
                // What can be read ends with the key.
                prop_assert!(bytes.ends_with(key.as_bytes()) && namespace.names().len() <= bytes.len());
            }
        }
    }
}
