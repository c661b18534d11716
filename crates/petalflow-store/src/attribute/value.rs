//! The values of search attributes, in the one form that all stores compare: bytes whose order is that of the values.

use std::fmt;

use serde_core::{Serialize, Serializer};

/// Of a text, this many bytes are in the index. Databases limit what an index can have.
const LONGEST_TEXT: usize = 1_024;

const BOOL: u8 = 1;
const NUMBER: u8 = 2;
const TEXT: u8 = 3;

/// A type of search attributes. Values of different types are never equal, and no comparison finds both.
///
/// ```
/// use petalflow::checkpoint::AttributeKind;
///
/// assert_eq!(AttributeKind::Number.to_string(), "number");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AttributeKind {
    /// True or false.
    Bool,
    /// Integers and floats. An integer equals the float of the same number.
    Number,
    /// Texts, compared by bytes.
    Text,
}

impl fmt::Display for AttributeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AttributeKind::Bool => "bool",
            AttributeKind::Number => "number",
            AttributeKind::Text => "text",
        })
    }
}

/// The value of a search attribute: what the index of threads has of a key with `#[key(indexed)]`.
///
/// Its bytes have the order of the values, so each store compares them as they are. Of a text, the first 1,024 bytes are in the
/// index, also where it is compared.
///
/// ```
/// use petalflow::checkpoint::{Attribute, AttributeKind, AttributeValue};
///
/// assert_eq!(Attribute::from(5_u64), Attribute::from(5.0));
/// assert!(Attribute::from(-5) < Attribute::from(0.5));
/// assert!(Attribute::from("ann") < Attribute::from("bob"));
/// assert_eq!(Attribute::from(true).kind(), AttributeKind::Bool);
/// assert_eq!(Attribute::from("ann").value(), AttributeValue::Text("ann"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attribute(Vec<u8>);

/// A value of a search attribute that is read.
///
/// ```
/// use petalflow::checkpoint::{Attribute, AttributeValue};
///
/// assert_eq!(Attribute::from(2.0).value(), AttributeValue::Integer(2));
/// assert_eq!(Attribute::from(2.5).value(), AttributeValue::Float(2.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttributeValue<'a> {
    /// True or false.
    Bool(bool),
    /// A number without a fraction that fits.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// A text.
    Text(&'a str),
}

impl Attribute {
    /// The value that a store has as these bytes. `None` if no value has them.
    ///
    /// ```
    /// use petalflow::checkpoint::Attribute;
    ///
    /// let five = Attribute::from(5);
    /// assert_eq!(Attribute::from_bytes(five.as_bytes().to_vec()), Some(five));
    /// assert_eq!(Attribute::from_bytes(vec![9]), None);
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let is_one = match bytes.split_first()? {
            (&BOOL, rest) => matches!(rest, [0 | 1]),
            (&NUMBER, rest) => matches!(rest.len(), 8 | 24),
            (&TEXT, rest) => rest.len() <= LONGEST_TEXT && std::str::from_utf8(rest).is_ok(),
            _ => false,
        };
        is_one.then_some(Attribute(bytes))
    }

    /// The value that is this bool, number or text in JSON, as it is serialized. `None` for another value.
    ///
    /// ```
    /// use petalflow::checkpoint::Attribute;
    ///
    /// assert_eq!(Attribute::from_json(&serde_json::json!(5)), Some(Attribute::from(5)));
    /// assert_eq!(Attribute::from_json(&serde_json::json!([5])), None);
    /// ```
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        if let Some(text) = value.as_str() {
            return Some(text.into());
        }
        if let Some(value) = value.as_bool() {
            return Some(value.into());
        }
        let signed = value.as_i64().map(Attribute::from);
        let unsigned = || value.as_u64().map(Attribute::from);
        signed
            .or_else(unsigned)
            .or_else(|| value.as_f64().map(Attribute::from))
    }

    /// Its form in a store.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its type.
    pub fn kind(&self) -> AttributeKind {
        match self.0.first() {
            Some(&BOOL) => AttributeKind::Bool,
            Some(&NUMBER) => AttributeKind::Number,
            _ => AttributeKind::Text,
        }
    }

    /// The value.
    pub fn value(&self) -> AttributeValue<'_> {
        let (kind, rest) = (self.kind(), self.0.get(1..).unwrap_or_default());
        match kind {
            AttributeKind::Bool => AttributeValue::Bool(rest == [1]),
            AttributeKind::Number => number_of(rest),
            AttributeKind::Text => {
                AttributeValue::Text(std::str::from_utf8(rest).unwrap_or_default())
            }
        }
    }

    /// A number: the greatest float that is not above it, and what it has more.
    fn of_number(floor: f64, rest: u128) -> Self {
        // There is one zero.
        let bits = (floor + 0.0).to_bits();
        let is_negative = bits >> 63 == 1;
        let ordered = if is_negative { !bits } else { bits | 1 << 63 };
        let mut bytes = vec![NUMBER];
        bytes.extend_from_slice(&ordered.to_be_bytes());
        if rest > 0 {
            bytes.extend_from_slice(&rest.to_be_bytes());
        }
        Attribute(bytes)
    }

    fn of_magnitude(magnitude: u128, is_negative: bool) -> Self {
        /// 2^128, which no `u128` has.
        const BEYOND: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;
        #[allow(clippy::cast_precision_loss, reason = "it is corrected below")]
        let near = magnitude as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an integer from 0 to below 2^128"
        )]
        let exact = |float: f64| float as u128;
        if is_negative {
            let above = if near < BEYOND && exact(near) < magnitude {
                near.next_up()
            } else {
                near
            };
            return Attribute::of_number(-above, exact(above) - magnitude);
        }
        let below = if near >= BEYOND || exact(near) > magnitude {
            near.next_down()
        } else {
            near
        };
        Attribute::of_number(below, magnitude - exact(below))
    }
}

/// 2^127.
const BEYOND: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;

/// A number from its bytes without the type.
fn number_of(bytes: &[u8]) -> AttributeValue<'_> {
    let (float, rest) = bytes.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    let ordered = u64::from_be_bytes(*float);
    let is_negative = ordered >> 63 == 0;
    let bits = if is_negative {
        !ordered
    } else {
        ordered & !(1 << 63)
    };
    let float = f64::from_bits(bits);
    let rest = rest
        .first_chunk::<16>()
        .map_or(0, |rest| u128::from_be_bytes(*rest));
    if float.fract() != 0.0 || !(-BEYOND..BEYOND).contains(&float) {
        return AttributeValue::Float(float);
    }
    #[allow(clippy::cast_possible_truncation, reason = "it is within the range")]
    let integer = (float as i128).saturating_add_unsigned(rest);
    AttributeValue::Integer(integer)
}

impl From<bool> for Attribute {
    fn from(value: bool) -> Self {
        Attribute(vec![BOOL, u8::from(value)])
    }
}

/// Infinity is a number. A value that is none (NaN) equals itself and is above all numbers.
impl From<f64> for Attribute {
    fn from(value: f64) -> Self {
        let value = if value.is_nan() {
            f64::NAN.copysign(1.0)
        } else {
            value
        };
        Attribute::of_number(value, 0)
    }
}

/// The number that is written with the fewest digits: `0.1_f32` is 0.1.
impl From<f32> for Attribute {
    fn from(value: f32) -> Self {
        let written = value.to_string().parse::<f64>();
        Attribute::from(written.unwrap_or_else(|_| value.into()))
    }
}

macro_rules! from_integer {
    (signed: $($signed:ty)*; unsigned: $($unsigned:ty)*) => {
        $(impl From<$signed> for Attribute {
            fn from(value: $signed) -> Self {
                Attribute::of_magnitude(value.unsigned_abs() as u128, value < 0)
            }
        })*
        $(impl From<$unsigned> for Attribute {
            fn from(value: $unsigned) -> Self {
                Attribute::of_magnitude(value as u128, false)
            }
        })*
    };
}

#[allow(clippy::cast_lossless, reason = "the types are different")]
const _: () = {
    from_integer!(signed: i8 i16 i32 i64 i128 isize; unsigned: u8 u16 u32 u64 u128 usize);
};

impl From<&str> for Attribute {
    fn from(value: &str) -> Self {
        let within = &value[..value.floor_char_boundary(LONGEST_TEXT)];
        Attribute([&[TEXT], within.as_bytes()].concat())
    }
}

impl From<&String> for Attribute {
    fn from(value: &String) -> Self {
        value.as_str().into()
    }
}

impl From<String> for Attribute {
    fn from(value: String) -> Self {
        value.as_str().into()
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            AttributeValue::Bool(value) => value.fmt(f),
            AttributeValue::Integer(value) => value.fmt(f),
            AttributeValue::Float(value) => value.fmt(f),
            AttributeValue::Text(value) => value.fmt(f),
        }
    }
}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            AttributeValue::Bool(value) => value.fmt(f),
            AttributeValue::Integer(value) => value.fmt(f),
            AttributeValue::Float(value) => value.fmt(f),
            AttributeValue::Text(value) => value.fmt(f),
        }
    }
}

/// As the value itself: a bool, a number or a text. A number is a float if it needs more than 64 bits.
impl Serialize for Attribute {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            AttributeValue::Bool(value) => serializer.serialize_bool(value),
            AttributeValue::Text(value) => serializer.serialize_str(value),
            AttributeValue::Float(value) => serializer.serialize_f64(value),
            AttributeValue::Integer(value) => {
                if let Ok(value) = i64::try_from(value) {
                    serializer.serialize_i64(value)
                } else if let Ok(value) = u64::try_from(value) {
                    serializer.serialize_u64(value)
                } else {
                    #[allow(clippy::cast_precision_loss, reason = "as documented")]
                    serializer.serialize_f64(value as f64)
                }
            }
        }
    }
}

/// The bytes of the type of an attribute, and those after all of its values.
pub(super) fn bounds(kind: AttributeKind) -> (Vec<u8>, Vec<u8>) {
    let tag = match kind {
        AttributeKind::Bool => BOOL,
        AttributeKind::Number => NUMBER,
        AttributeKind::Text => TEXT,
    };
    (vec![tag], vec![tag + 1])
}

#[cfg(test)]
mod tests {
    use super::{Attribute, AttributeValue};

    #[test]
    fn f43_the_order_of_the_bytes_is_that_of_the_numbers() {
        let sorted: Vec<Attribute> = vec![
            f64::NEG_INFINITY.into(),
            f64::MIN.into(),
            i128::MIN.into(),
            (i128::MIN + 1).into(),
            (-1e30).into(),
            i64::MIN.into(),
            (i64::MIN + 1).into(),
            (-9_007_199_254_740_993_i64).into(),
            (-9_007_199_254_740_992.0).into(),
            (-1.5).into(),
            (-1).into(),
            (-0.5).into(),
            0_u8.into(),
            f64::MIN_POSITIVE.into(),
            0.1.into(),
            1_i8.into(),
            9_007_199_254_740_992_u64.into(),
            9_007_199_254_740_993_u64.into(),
            9_007_199_254_740_994_u64.into(),
            (i64::MAX - 1).into(),
            i64::MAX.into(),
            9_223_372_036_854_775_808.0.into(),
            (u64::MAX - 1).into(),
            u64::MAX.into(),
            i128::MAX.into(),
            (u128::MAX - 1).into(),
            u128::MAX.into(),
            340_282_366_920_938_463_463_374_607_431_768_211_456.0.into(),
            f64::INFINITY.into(),
            f64::NAN.into(),
            "".into(),
        ];
        for pair in sorted.windows(2) {
            assert!(pair[0] < pair[1], "{:?} and {:?}", pair[0], pair[1]);
        }
        for value in sorted {
            let read = Attribute::from_bytes(value.as_bytes().to_vec());
            assert_eq!(read, Some(value));
        }
    }

    #[test]
    fn f43_numbers_are_exact_and_have_one_form() {
        for integer in [0, -1, 1, i64::MIN, i64::MAX, 9_007_199_254_740_993] {
            let integer = i128::from(integer);
            assert_eq!(
                Attribute::from(integer).value(),
                AttributeValue::Integer(integer)
            );
        }
        for integer in [i128::MIN, i128::MIN + 1, i128::MAX] {
            assert_eq!(
                Attribute::from(integer).value(),
                AttributeValue::Integer(integer)
            );
        }
        assert_eq!(Attribute::from(-0.0), Attribute::from(0));
        assert_eq!(Attribute::from(-f64::NAN), Attribute::from(f64::NAN));
        assert_eq!(Attribute::from(0.1_f32), Attribute::from(0.1));
        assert_eq!(Attribute::from(0.1).to_string(), "0.1");
        assert_eq!(Attribute::from(u64::MAX).to_string(), u64::MAX.to_string());
    }

    #[test]
    fn f43_a_long_text_is_cut_between_letters() {
        let long = "ä".repeat(600);
        let cut = Attribute::from(&long);
        assert_eq!(cut.value(), AttributeValue::Text(&long[..1_024]));
        let odd = format!("a{long}");
        assert_eq!(
            Attribute::from(&odd).value(),
            AttributeValue::Text(&odd[..1_023])
        );
    }
}
