//! Encoded values as JSON text, to show them.

use std::fmt::{self, Write as _};

use super::decode::Token;
use super::depth::MAX_DEPTH;
use super::error::CodecError;
use super::unpack::Unpack;

/// Displays an encoded value as JSON, with the entries of maps in the order of their keys. Keys that are not text are shown as
/// text, bytes as numbers, and infinite numbers as `null`.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(pub &'a [u8]);

impl Json<'_> {
    /// The text.
    pub fn text(self) -> Result<String, CodecError> {
        let mut text = String::new();
        write(&mut Unpack { rest: self.0 }, &mut text, MAX_DEPTH + 1)?;
        Ok(text)
    }
}

/// The order of the entries of a map has no meaning.
impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        let texts = || Some((self.text().ok()?, other.text().ok()?));
        self.0 == other.0 || texts().is_some_and(|(one, other)| one == other)
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

/// Writes the next value, which may have this many levels.
fn write(from: &mut Unpack<'_>, out: &mut String, levels: usize) -> Result<(), CodecError> {
    let inner = levels.checked_sub(1).ok_or(CodecError::Depth);
    match from.token()? {
        Token::Nil => out.push_str("null"),
        Token::Boolean(value) => append(out, value),
        Token::Unsigned(number) => append(out, number),
        Token::Signed(number) => append(out, number),
        Token::Single(number) => fraction(out, number.into()),
        Token::Double(number) => fraction(out, number),
        Token::Text(text) => quoted(out, &String::from_utf8_lossy(text)),
        Token::Bytes(bytes) | Token::Extension(_, bytes) => {
            list(out, bytes.len(), |out, index| {
                append(out, bytes[index]);
                Ok(())
            })?;
        }
        Token::List(len) => {
            let inner = inner?;
            list(out, len, |out, _| write(from, out, inner))?;
        }
        Token::Map(len) => {
            let inner = inner?;
            let mut entries = Vec::new();
            for _ in 0..len {
                let (mut key, mut entry) = (String::new(), String::new());
                write(from, &mut key, inner)?;
                if key.starts_with('"') {
                    entry = key;
                } else {
                    quoted(&mut entry, &key);
                }
                entry.push(':');
                write(from, &mut entry, inner)?;
                entries.push(entry);
            }
            entries.sort_unstable();
            out.push('{');
            out.push_str(&entries.join(","));
            out.push('}');
        }
    }
    Ok(())
}

fn list(
    out: &mut String,
    len: usize,
    mut item: impl FnMut(&mut String, usize) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    out.push('[');
    for index in 0..len {
        if index > 0 {
            out.push(',');
        }
        item(out, index)?;
    }
    out.push(']');
    Ok(())
}

fn append(out: &mut String, value: impl fmt::Display) {
    write!(out, "{value}").expect("a `String` accepts all text");
}

fn fraction(out: &mut String, number: f64) {
    if number.is_finite() {
        // `Debug` writes `1.0` and `1e16`, as JSON does.
        append(out, format_args!("{number:?}"));
    } else {
        out.push_str("null");
    }
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => append(out, format_args!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;
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
        assert_eq!(text(&crate::Bytes([1, 2])), "[1,2]");
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
