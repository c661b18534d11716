//! Values of any type.

use std::fmt;

use serde_core::de::DeserializeOwned;
use serde_core::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::decode::Token;
use super::error::CodecError;
use super::json::Json;
use super::unpack::Unpack;
use super::{decode_as, encode_as, pack};

/// A serialized value of any type, such as a question to a person or an emitted value.
///
/// [`decode`](RawValue::decode) turns it into a type, serde writes it in any format, and `Display` prints JSON.
///
/// ```
/// use petalflow::state::RawValue;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Payment {
///     euros: u32,
/// }
///
/// let value = RawValue::new(&Payment { euros: 7 })?;
/// assert_eq!(value.decode::<Payment>()?.euros, 7);
/// assert_eq!(serde_json::to_value(&value)?["euros"], 7);
/// assert_eq!(value.to_string(), r#"{"euros":7}"#);
/// # Ok::<(), petalflow::BoxError>(())
/// ```
// In MessagePack. Unlike stored values, it is in the form for people: types that know both forms, such as ids and times, are
// text.
#[derive(Clone, Eq)]
pub struct RawValue {
    bytes: Vec<u8>,
}

impl RawValue {
    /// Serializes a value.
    ///
    /// # Errors
    ///
    /// If its `Serialize` implementation fails, or it is nested too deeply.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> Result<Self, CodecError> {
        let mut bytes = Vec::new();
        encode_as::<true, T>(value, &mut bytes)?;
        Ok(RawValue { bytes })
    }

    /// Deserializes the value.
    ///
    /// # Errors
    ///
    /// If it is not a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, CodecError> {
        decode_as(&self.bytes, true)
    }

    /// A map with the value under a name.
    #[doc(hidden)]
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        let mut bytes = Vec::new();
        pack::map(1, &mut bytes);
        pack::text(name, &mut bytes);
        bytes.extend_from_slice(&self.bytes);
        RawValue { bytes }
    }

    /// A value that was encoded before.
    #[doc(hidden)]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        RawValue { bytes }
    }

    /// The encoded value.
    #[doc(hidden)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The order of the entries of a map has no meaning.
impl PartialEq for RawValue {
    fn eq(&self, other: &Self) -> bool {
        Json(&self.bytes) == Json(&other.bytes)
    }
}

/// As JSON.
impl fmt::Display for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Json(&self.bytes).fmt(f)
    }
}

/// As JSON.
impl fmt::Debug for RawValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Json(&self.bytes).fmt(f)
    }
}

/// As the serialized value itself.
impl Serialize for RawValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Part(&self.bytes).serialize(serializer)
    }
}

/// An encoded value, or one inside it.
struct Part<'a>(&'a [u8]);

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut from = Unpack { rest: self.0 };
        match from.token().map_err(S::Error::custom)? {
            Token::Nil => serializer.serialize_unit(),
            Token::Boolean(value) => serializer.serialize_bool(value),
            Token::Unsigned(number) => serializer.serialize_u64(number),
            Token::Signed(number) => serializer.serialize_i64(number),
            Token::Single(number) => serializer.serialize_f32(number),
            Token::Double(number) => serializer.serialize_f64(number),
            Token::Text(text) => serializer.serialize_str(&String::from_utf8_lossy(text)),
            Token::Bytes(bytes) | Token::Extension(_, bytes) => serializer.serialize_bytes(bytes),
            Token::List(len) => {
                let mut list = serializer.serialize_seq(Some(len))?;
                for _ in 0..len {
                    let item = from.value().map_err(S::Error::custom)?;
                    list.serialize_element(&Part(item))?;
                }
                list.end()
            }
            Token::Map(len) => {
                let mut map = serializer.serialize_map(Some(len))?;
                for _ in 0..len {
                    let key = from.value().map_err(S::Error::custom)?;
                    let value = from.value().map_err(S::Error::custom)?;
                    map.serialize_entry(&Part(key), &Part(value))?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, HashMap};
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn ids_are_text_and_come_back() {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let value = RawValue::new(&address).unwrap();
        assert_eq!(value.to_string(), "\"127.0.0.1\"");
        assert_eq!(value.decode::<IpAddr>().unwrap(), address);
        assert!(value.decode::<u8>().is_err());
    }

    #[test]
    fn other_formats_write_the_value_itself() {
        let pair = (
            BTreeMap::from([(7_u8, Some(0.5))]),
            [None, Some("text")],
            -1,
            true,
        );
        let value = RawValue::new(&pair).unwrap();
        let json = serde_json::to_value(&pair).unwrap();
        assert_eq!(serde_json::to_value(&value).unwrap(), json);
        assert_eq!(value.to_string(), json.to_string());
        assert_eq!(RawValue::new(&value).unwrap(), value);
    }

    #[test]
    fn numbers_of_128_bits_are_numbers_if_they_fit() {
        let value = RawValue::new(&(7_u128, -7_i128, u128::MAX)).unwrap();
        assert!(value.to_string().starts_with("[7,-7,[255,"), "{value}");
        assert_eq!(
            value.decode::<(u128, i128, u128)>().unwrap(),
            (7, -7, u128::MAX)
        );
    }

    #[test]
    fn the_order_of_entries_has_no_meaning() {
        let map: HashMap<u32, u32> = (0..100).map(|n| (n, n)).collect();
        let sorted: BTreeMap<u32, u32> = map.clone().into_iter().collect();
        assert_eq!(
            RawValue::new(&map).unwrap(),
            RawValue::new(&sorted).unwrap()
        );
        assert_ne!(RawValue::new(&map).unwrap(), RawValue::new(&()).unwrap());
    }

    #[test]
    fn a_damaged_value_is_an_error_in_other_formats() {
        let damaged = RawValue::from_bytes(vec![0x92, 1]);
        assert!(serde_json::to_value(&damaged).is_err());
        assert_eq!(damaged.to_string(), "[146, 1]");
    }
}
