//! The deserializer.
//!
//! It reads what [`encode`](super::encode()) writes, and other forms of the same value, such as numbers that are not in the
//! shortest form.

use serde_core::de::value::{
    BorrowedBytesDeserializer, I8Deserializer, SeqAccessDeserializer, SeqDeserializer,
};
use serde_core::de::{self, DeserializeSeed, Deserializer, Unexpected, Visitor};
use serde_core::forward_to_deserialize_any;

use super::depth::MAX_DEPTH;
use super::error::CodecError;
use super::unpack::Unpack;

/// Reads one value.
pub(super) struct Decoder<'de> {
    from: Unpack<'de>,
    /// How many more levels a value may have.
    levels: usize,
    /// Whether the value is in the form for people: see [`RawValue`](super::RawValue).
    readable: bool,
}

/// A value without values inside, or the beginning of one that has them.
pub(super) enum Token<'de> {
    Nil,
    Boolean(bool),
    Unsigned(u64),
    Signed(i64),
    Single(f32),
    Double(f64),
    Text(&'de [u8]),
    Bytes(&'de [u8]),
    List(usize),
    Map(usize),
    Extension(i8, &'de [u8]),
}

impl<'de> Unpack<'de> {
    /// The next value, or its beginning if values are inside it.
    pub(super) fn token(&mut self) -> Result<Token<'de>, CodecError> {
        let marker = self.marker("a value")?;
        Ok(match marker {
            0..=0x7f => Token::Unsigned(marker.into()),
            0x80..=0x8f => Token::Map((marker & 0x0f).into()),
            0x90..=0x9f => Token::List((marker & 0x0f).into()),
            0xa0..=0xbf => Token::Text(self.take((marker & 0x1f).into())?),
            0xc0 => Token::Nil,
            0xc1 => return Err(CodecError::Decode("no value begins with 0xc1".into())),
            0xc2 | 0xc3 => Token::Boolean(marker == 0xc3),
            0xc4..=0xc6 => Token::Bytes(self.sized(1 << (marker - 0xc4))?),
            0xc7..=0xc9 => {
                let len = self.length(1 << (marker - 0xc7))?;
                Token::Extension(i8::from_be_bytes(self.array()?), self.take(len)?)
            }
            0xca => Token::Single(f32::from_be_bytes(self.array()?)),
            0xcb => Token::Double(f64::from_be_bytes(self.array()?)),
            0xcc => Token::Unsigned(u8::from_be_bytes(self.array()?).into()),
            0xcd => Token::Unsigned(u16::from_be_bytes(self.array()?).into()),
            0xce => Token::Unsigned(u32::from_be_bytes(self.array()?).into()),
            0xcf => Token::Unsigned(u64::from_be_bytes(self.array()?)),
            0xd0 => Token::Signed(i8::from_be_bytes(self.array()?).into()),
            0xd1 => Token::Signed(i16::from_be_bytes(self.array()?).into()),
            0xd2 => Token::Signed(i32::from_be_bytes(self.array()?).into()),
            0xd3 => Token::Signed(i64::from_be_bytes(self.array()?)),
            0xd4..=0xd8 => {
                let tag = i8::from_be_bytes(self.array()?);
                Token::Extension(tag, self.take(1 << (marker - 0xd4))?)
            }
            0xd9..=0xdb => Token::Text(self.sized(1 << (marker - 0xd9))?),
            0xdc | 0xdd => Token::List(self.length(2 << (marker - 0xdc))?),
            0xde | 0xdf => Token::Map(self.length(2 << (marker - 0xde))?),
            0xe0.. => Token::Signed(i8::from_be_bytes([marker]).into()),
        })
    }
}

impl de::Error for CodecError {
    #[cold]
    fn custom<T: std::fmt::Display>(problem: T) -> Self {
        CodecError::Decode(problem.to_string())
    }
}

impl<'de> Decoder<'de> {
    pub(super) fn new(bytes: &'de [u8], readable: bool) -> Self {
        Decoder {
            readable,
            from: Unpack { rest: bytes },
            // One more than is written, because an empty list is not counted as a level there.
            levels: MAX_DEPTH + 1,
        }
    }

    /// How many bytes remain.
    pub(super) fn remaining(&self) -> usize {
        self.from.rest.len()
    }

    fn token(&mut self) -> Result<Token<'de>, CodecError> {
        self.from.token()
    }

    /// Reads the values inside a value, one level deeper.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, CodecError>,
    ) -> Result<T, CodecError> {
        self.levels = self.levels.checked_sub(1).ok_or(CodecError::Depth)?;
        let value = read(self);
        self.levels += 1;
        value
    }

    /// A number or a boolean, as the marker says.
    fn scalar<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, CodecError> {
        match self.token()? {
            Token::Boolean(value) => visitor.visit_bool(value),
            Token::Unsigned(number) => visitor.visit_u64(number),
            Token::Signed(number) => visitor.visit_i64(number),
            Token::Single(number) => visitor.visit_f32(number),
            Token::Double(number) => visitor.visit_f64(number),
            other => Err(other.mismatch(&visitor)),
        }
    }

    /// A value with values inside, or any other value. A byte string is a list of numbers here.
    fn compound<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, CodecError> {
        match self.token()? {
            Token::List(len) => self.list(len, visitor),
            Token::Map(len) => self.map(len, visitor),
            Token::Bytes(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            other => other.visit(visitor),
        }
    }

    fn list<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.nested(|decoder| {
            let mut items = Items {
                decoder,
                remaining: len,
            };
            let value = visitor.visit_seq(&mut items)?;
            all_read(items.remaining, value)
        })
    }

    fn map<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.nested(|decoder| {
            let mut items = Items {
                decoder,
                remaining: len,
            };
            let value = visitor.visit_map(&mut items)?;
            all_read(items.remaining, value)
        })
    }

    /// A number of 128 bits: a byte string, or a shorter number.
    fn wide_number(&mut self) -> Result<[u8; 16], CodecError> {
        Ok(match self.token()? {
            Token::Unsigned(number) => u128::from(number).to_be_bytes(),
            Token::Signed(number) => i128::from(number).to_be_bytes(),
            Token::Bytes(bytes) => bytes
                .try_into()
                .map_err(|_| de::Error::invalid_length(bytes.len(), &"16 bytes"))?,
            other => return Err(other.mismatch(&"a number")),
        })
    }

    fn peek(&self) -> Option<u8> {
        self.from.rest.first().copied()
    }
}

fn all_read<T>(remaining: usize, value: T) -> Result<T, CodecError> {
    match remaining {
        0 => Ok(value),
        more => Err(CodecError::Decode(format!(
            "there are {more} values more than expected"
        ))),
    }
}

impl<'de> Token<'de> {
    /// Passes a value without values inside to the visitor.
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self {
            Token::Nil => visitor.visit_unit(),
            Token::Boolean(value) => visitor.visit_bool(value),
            Token::Unsigned(number) => visitor.visit_u64(number),
            Token::Signed(number) => visitor.visit_i64(number),
            Token::Single(number) => visitor.visit_f32(number),
            Token::Double(number) => visitor.visit_f64(number),
            Token::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Token::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => visitor.visit_borrowed_str(text),
                // A visitor of bytes accepts text that is not UTF-8.
                Err(error) => visitor
                    .visit_borrowed_bytes(bytes)
                    .map_err(|_: CodecError| de::Error::custom(error)),
            },
            Token::Extension(tag, bytes) => {
                let parts = Extension {
                    tag: Some(tag),
                    bytes: Some(bytes),
                };
                visitor.visit_newtype_struct(SeqAccessDeserializer::new(parts))
            }
            other @ (Token::List(_) | Token::Map(_)) => Err(other.mismatch(&visitor)),
        }
    }

    #[cold]
    fn mismatch(&self, expected: &dyn de::Expected) -> CodecError {
        let found = match self {
            Token::Nil => Unexpected::Unit,
            Token::Boolean(value) => Unexpected::Bool(*value),
            Token::Unsigned(number) => Unexpected::Unsigned(*number),
            Token::Signed(number) => Unexpected::Signed(*number),
            Token::Single(number) => Unexpected::Float((*number).into()),
            Token::Double(number) => Unexpected::Float(*number),
            Token::Text(_) => Unexpected::Other("text"),
            Token::Bytes(_) => Unexpected::Other("bytes"),
            Token::List(_) => Unexpected::Seq,
            Token::Map(_) => Unexpected::Map,
            Token::Extension(..) => Unexpected::Other("an extension"),
        };
        de::Error::invalid_type(found, expected)
    }
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = CodecError;

    fn is_human_readable(&self) -> bool {
        self.readable
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        match self.token()? {
            Token::List(len) => self.list(len, visitor),
            Token::Map(len) => self.map(len, visitor),
            other => other.visit(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        if self.peek() == Some(0xc0) {
            self.token()?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    /// A variant without data is its name. One with data is a map, or a list, of one entry.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        if !matches!(self.peek(), Some(0x80..=0x9f | 0xdc..=0xdf)) {
            return visitor.visit_enum(Variant {
                decoder: self,
                has_data: false,
            });
        }
        match self.token()? {
            Token::List(1) | Token::Map(1) => self.nested(|decoder| {
                let has_data = true;
                visitor.visit_enum(Variant { decoder, has_data })
            }),
            other => Err(other.mismatch(&"a variant, alone or as a map of one entry")),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match self.peek() {
            Some(0xc7..=0xc9 | 0xd4..=0xd8) => self.deserialize_any(visitor),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        match self.token()? {
            Token::Nil | Token::List(0) => visitor.visit_unit(),
            other => Err(other.mismatch(&visitor)),
        }
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_i128(i128::from_be_bytes(self.wide_number()?))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        visitor.visit_u128(u128::from_be_bytes(self.wide_number()?))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.scalar(visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, CodecError> {
        self.compound(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.compound(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.compound(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.compound(visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit map identifier ignored_any
    }
}

/// The values of a list, or the keys and values of a map.
struct Items<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    remaining: usize,
}

impl Items<'_, '_> {
    /// Counts one value down. Returns whether there is one.
    fn next(&mut self) -> bool {
        let remaining = self.remaining.checked_sub(1);
        self.remaining = remaining.unwrap_or_default();
        remaining.is_some()
    }
}

impl<'de> de::SeqAccess<'de> for Items<'_, 'de> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        self.next()
            .then(|| seed.deserialize(&mut *self.decoder))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.remaining)
    }
}

impl<'de> de::MapAccess<'de> for Items<'_, 'de> {
    type Error = CodecError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, CodecError> {
        self.next()
            .then(|| seed.deserialize(&mut *self.decoder))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, CodecError> {
        seed.deserialize(&mut *self.decoder)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.remaining)
    }
}

/// A variant, and whether its data follows.
struct Variant<'a, 'de> {
    decoder: &'a mut Decoder<'de>,
    has_data: bool,
}

impl<'a, 'de> Variant<'a, 'de> {
    fn data(self, expected: &str) -> Result<&'a mut Decoder<'de>, CodecError> {
        if self.has_data {
            Ok(self.decoder)
        } else {
            Err(de::Error::invalid_type(Unexpected::UnitVariant, &expected))
        }
    }
}

impl<'de> de::EnumAccess<'de> for Variant<'_, 'de> {
    type Error = CodecError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), CodecError> {
        Ok((seed.deserialize(&mut *self.decoder)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Variant<'_, 'de> {
    type Error = CodecError;

    fn unit_variant(self) -> Result<(), CodecError> {
        if !self.has_data {
            return Ok(());
        }
        match self.decoder.token()? {
            Token::Nil => Ok(()),
            other => Err(other.mismatch(&"no data")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, CodecError> {
        seed.deserialize(self.data("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, CodecError> {
        self.data("tuple variant")?.compound(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, CodecError> {
        self.data("struct variant")?.compound(visitor)
    }
}

/// The tag and the bytes of an extension type. `rmp-serde` wrote it for a newtype struct named `_ExtStruct`.
struct Extension<'de> {
    tag: Option<i8>,
    bytes: Option<&'de [u8]>,
}

impl<'de> de::SeqAccess<'de> for Extension<'de> {
    type Error = CodecError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, CodecError> {
        if let Some(tag) = self.tag.take() {
            return seed.deserialize(I8Deserializer::new(tag)).map(Some);
        }
        let bytes = self.bytes.take().map(BorrowedBytesDeserializer::new);
        bytes.map(|bytes| seed.deserialize(bytes)).transpose()
    }
}
