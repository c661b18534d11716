//! Replaces texts in encoded values.

use super::decode::Token;
use super::error::CodecError;
use super::pack;
use super::unpack::Unpack;

/// How deep bytes that are a value can be in others.
const MAX_NESTED: usize = 8;

/// An encoded value with other texts: `replace` returns what is in the place of a text, or `None` if the text remains. Names of maps are
/// texts, too. Bytes that are an encoded value themselves have their texts replaced; all other values remain as they are.
pub fn replace_texts(
    bytes: &[u8],
    replace: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<u8>, CodecError> {
    replaced(bytes, replace, MAX_NESTED)
}

fn replaced(
    bytes: &[u8],
    replace: &dyn Fn(&str) -> Option<String>,
    nested: usize,
) -> Result<Vec<u8>, CodecError> {
    let mut from = Unpack { rest: bytes };
    let mut out = Vec::with_capacity(bytes.len());
    // How many values must follow. The beginning of a list or a map is one token, so nothing here is recursive except for bytes.
    let mut missing: usize = 0;
    while missing > 0 || !from.rest.is_empty() {
        let before = from.rest;
        let token = from.token()?;
        let read = &before[..before.len() - from.rest.len()];
        let inside = match token {
            Token::List(len) => len,
            Token::Map(len) => len.saturating_mul(2),
            _ => 0,
        };
        missing = missing.saturating_sub(1).saturating_add(inside);
        match token {
            Token::Text(text) => match std::str::from_utf8(text).ok().and_then(replace) {
                Some(other) => pack::text(&other, &mut out),
                None => out.extend_from_slice(read),
            },
            Token::Bytes(inner) if nested > 0 && is_value(inner) => {
                pack::bytes(&replaced(inner, replace, nested - 1)?, &mut out);
            }
            _ => out.extend_from_slice(read),
        }
    }
    Ok(out)
}

/// Whether bytes are one list or map.
fn is_value(bytes: &[u8]) -> bool {
    let begins = matches!(bytes.first(), Some(0x80..=0x9f | 0xdc..=0xdf));
    let mut from = Unpack { rest: bytes };
    begins && from.value().is_ok() && from.rest.is_empty()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::codec::{Bytes, Json, encode};

    fn packed<T: serde_core::Serialize + ?Sized>(value: &T) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(value, &mut bytes).unwrap();
        bytes
    }

    fn without_key(bytes: &[u8]) -> Vec<u8> {
        let other = |text: &str| text.contains("key").then(|| text.replace("key", "-"));
        replace_texts(bytes, &other).unwrap()
    }

    #[test]
    fn texts_and_names_are_replaced_and_the_rest_remains() {
        let map = |name: &str, text: &str| packed(&BTreeMap::from([(name, (text, 1.5, true))]));
        assert_eq!(without_key(&map("a key", "keykey")), map("a -", "--"));
        let other = map("a", "text");
        assert_eq!(without_key(&other), other);
        let long = "key".repeat(500);
        assert_eq!(without_key(&packed(&long)), packed(&"-".repeat(500)));
    }

    #[test]
    fn bytes_that_are_a_value_have_their_texts_replaced() {
        let of = |inner: &[u8]| packed(&("a", Bytes(inner), 7));
        assert_eq!(without_key(&of(&packed(&["key"]))), of(&packed(&["-"])));
        // A picture is no value.
        assert_eq!(without_key(&of(b"key")), of(b"key"));
        assert_eq!(
            Json(&without_key(&of(b"\x91"))).text().unwrap(),
            r#"["a",[145],7]"#
        );
    }

    #[test]
    fn bytes_in_bytes_end() {
        let mut bytes = packed(&["key"]);
        for _ in 0..10_000 {
            bytes = packed(&(Bytes(&bytes),));
        }
        assert_eq!(
            without_key(&bytes),
            bytes,
            "it is too deep to be a value of petalflow"
        );
    }

    #[test]
    fn what_is_cut_is_an_error() {
        let value = packed(&("key", [1, 2]));
        for end in 1..4 {
            assert!(replace_texts(&value[..end], &|_| None).is_err(), "{end}");
        }
    }
}
