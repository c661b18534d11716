//! Encoded values in files that people read: JSON where JSON has the value, and otherwise the bytes.

use serde_json::{Value, json};

use super::encode;
use super::error::CodecError;
use super::json::Json;

/// The entry of an object that stands for a value which JSON does not have.
const BYTES: &str = "$bytes";

/// The form of an encoded value in a file. A value that JSON does not have, such as bytes, is `{"$bytes": "c4..", "shows": ..}`.
#[must_use]
pub fn to_form(bytes: &[u8]) -> Value {
    let json = Json(bytes);
    match json.exact() {
        Ok(Some(value)) if !has_marker(&value) => value,
        _ => json!({ BYTES: hex(bytes), "shows": json.value().ok() }),
    }
}

/// The encoded value of a form.
pub fn from_form(form: &Value) -> Result<Vec<u8>, CodecError> {
    if let Some(bytes) = form.get(BYTES) {
        let bytes = bytes.as_str().and_then(unhex);
        return bytes.ok_or_else(|| {
            CodecError::Decode(format!(
                "`{BYTES}` is not an even number of hexadecimal digits"
            ))
        });
    }
    let mut bytes = Vec::new();
    encode(form, &mut bytes)?;
    Ok(bytes)
}

/// Whether the value looks like that of bytes somewhere.
fn has_marker(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.contains_key(BYTES) || map.values().any(has_marker),
        Value::Array(items) => items.iter().any(has_marker),
        _ => false,
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;

    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The bytes of hexadecimal digits.
#[must_use]
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| {
            let pair = std::str::from_utf8(pair)
                .ok()
                .filter(|pair| pair.len() == 2)?;
            let is_hex = pair.bytes().all(|digit| digit.is_ascii_hexdigit());
            u8::from_str_radix(pair, 16).ok().filter(|_| is_hex)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::Bytes;

    #[test]
    fn values_are_read_back_from_their_forms() {
        let encoded = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            bytes
        };
        let plain = encoded(&|out| encode(&json!({"a": [1, null]}), out).unwrap());
        assert_eq!(to_form(&plain), json!({"a": [1, null]}));
        let bytes = encoded(&|out| encode(&Bytes([1, 255]), out).unwrap());
        assert_eq!(
            to_form(&bytes),
            json!({"$bytes": "c40201ff", "shows": [1, 255]})
        );
        let marker = encoded(&|out| encode(&json!({"$bytes": "00"}), out).unwrap());
        for bytes in [plain, bytes, marker, vec![0x92, 1], Vec::new()] {
            assert_eq!(from_form(&to_form(&bytes)).unwrap(), bytes);
        }
        for wrong in ["0", "zz", "+1", "é1"] {
            assert!(from_form(&json!({"$bytes": wrong})).is_err(), "{wrong}");
        }
    }
}
