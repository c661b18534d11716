//! Encoded values as JSON, to show them.

use std::fmt;

use serde_json::{Map, Value};

use super::decode::Token;
use super::depth::MAX_DEPTH;
use super::error::CodecError;
use super::unpack::Unpack;

/// Displays an encoded value as JSON, with the entries of maps in the order of their keys. Keys that are not text are shown as
/// text, bytes as numbers, and infinite numbers as `null`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(pub &'a [u8]);

impl Json<'_> {
    /// The value.
    pub fn value(self) -> Result<Value, CodecError> {
        let mut from = Unpack { rest: self.0 };
        let mut value = value(&mut from, MAX_DEPTH + 1)?;
        // Another crate may let maps keep the order in which entries were added.
        value.sort_all_objects();
        Ok(value)
    }

    /// The value, if the encoded value can be made of it again, up to the order of the entries of maps: `None` if it has bytes, keys that
    /// are not text, or numbers that JSON does not have.
    pub fn exact(self) -> Result<Option<Value>, CodecError> {
        let value = self.value()?;
        let is_exact = is_exact(&mut Unpack { rest: self.0 })?;
        // A fraction may be read with an error of one unit in the last place.
        let reads_back = || serde_json::from_str(&value.to_string()).ok().as_ref() == Some(&value);
        Ok((is_exact && reads_back()).then_some(value))
    }

    /// The text.
    pub fn text(self) -> Result<String, CodecError> {
        Ok(self.value()?.to_string())
    }
}

/// The order of the entries of a map has no meaning.
impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        let values = || Some((self.value().ok()?, other.value().ok()?));
        self.0 == other.0 || values().is_some_and(|(one, other)| one == other)
    }
}

/// The bytes themselves, if they are not a value.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Ok(text) => f.write_str(&text),
            Err(_) => write!(f, "{:?}", self.0),
        }
    }
}

/// The next value, which may have this many levels.
fn value(from: &mut Unpack<'_>, levels: usize) -> Result<Value, CodecError> {
    let inner = levels.checked_sub(1).ok_or(CodecError::Depth);
    Ok(match from.token()? {
        Token::Nil => Value::Null,
        Token::Boolean(value) => value.into(),
        Token::Unsigned(number) => number.into(),
        Token::Signed(number) => number.into(),
        Token::Single(number) => number.into(),
        Token::Double(number) => number.into(),
        Token::Text(text) => String::from_utf8_lossy(text).into(),
        Token::Bytes(bytes) | Token::Extension(_, bytes) => bytes.into(),
        Token::List(len) => {
            let inner = inner?;
            // Not with the capacity of `len`, which may be a lie.
            let mut list = Vec::new();
            for _ in 0..len {
                list.push(value(from, inner)?);
            }
            list.into()
        }
        Token::Map(len) => {
            let inner = inner?;
            let mut map = Map::new();
            for _ in 0..len {
                let key = match value(from, inner)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                map.insert(key, value(from, inner)?);
            }
            map.into()
        }
    })
}

/// Whether all that follows has a form in JSON. It was read as one value before, so its depth is bounded.
fn is_exact(from: &mut Unpack<'_>) -> Result<bool, CodecError> {
    while !from.rest.is_empty() {
        let is_exact = match from.token()? {
            Token::Text(text) => std::str::from_utf8(text).is_ok(),
            Token::Bytes(_) | Token::Extension(..) | Token::Single(_) => false,
            Token::Double(number) => number.is_finite(),
            Token::Map(len) => {
                for _ in 0..len {
                    let Token::Text(key) = from.token()? else {
                        return Ok(false);
                    };
                    let mut value = Unpack {
                        rest: from.value()?,
                    };
                    if std::str::from_utf8(key).is_err() || !is_exact(&mut value)? {
                        return Ok(false);
                    }
                }
                true
            }
            Token::Nil
            | Token::Boolean(_)
            | Token::Unsigned(_)
            | Token::Signed(_)
            | Token::List(_) => true,
        };
        if !is_exact {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode;
    use proptest::prelude::*;
    use serde_json::Value;
    use std::collections::BTreeMap;

    fn text<T: serde_core::Serialize + ?Sized>(value: &T) -> String {
        let mut bytes = Vec::new();
        encode(value, &mut bytes).unwrap();
        Json(&bytes).to_string()
    }

    #[test]
    fn values_without_a_json_form_are_shown_approximately() {
        assert_eq!(
            text(&BTreeMap::from([(2, 'b'), (1, 'a')])),
            r#"{"1":"a","2":"b"}"#
        );
        assert_eq!(text(&crate::codec::Bytes([1, 2])), "[1,2]");
        assert_eq!(text(&[f64::NAN, f64::INFINITY]), "[null,null]");
        assert_eq!(text(&(0.5_f32, None::<u8>, ())), "[0.5,null,null]");
    }

    #[test]
    fn bytes_that_are_not_a_value_are_shown_as_they_are() {
        assert_eq!(Json(&[0x92, 1]).to_string(), "[146, 1]");
        assert!(matches!(
            Json(&[0x91; 10_000]).text(),
            Err(CodecError::Depth)
        ));
        assert!(Json(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1]).text().is_err());
    }

    #[test]
    fn only_what_json_has_is_exact() {
        let exact = |value: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            value(&mut bytes);
            Json(&bytes).exact().unwrap().is_some()
        };
        assert!(exact(&|out| encode(
            &serde_json::json!({"a": [1, {"b": null}, 0.5]}),
            out
        )
        .unwrap()));
        assert!(!exact(
            &|out| encode(&BTreeMap::from([(1, 'a')]), out).unwrap()
        ));
        assert!(!exact(&|out| encode(
            &BTreeMap::from([("a", f32::MIN)]),
            out
        )
        .unwrap()));
        assert!(!exact(
            &|out| encode(&[crate::codec::Bytes([1])], out).unwrap()
        ));
        assert!(!exact(&|out| encode(&f64::NAN, out).unwrap()));
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            // `serde_json` reads longer fractions with an error of one unit in the last place.
            any::<i16>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
            any::<String>().prop_map(Value::from),
            "[\0-\x7f]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn serde_json_reads_the_same_value(value in any_value()) {
            let read: Value = serde_json::from_str(&text(&value)).unwrap();
            prop_assert_eq!(read, value);
        }
    }
}
