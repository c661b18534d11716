//! Deserializes the least value of any type: zero, an empty text, no items.

use serde_core::de::value::{MapDeserializer, SeqDeserializer};
use serde_core::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};

use super::place::Stop;

/// The deepest value. A type whose first variant contains itself has no least value.
const MAX_DEPTH: u8 = 32;

/// The least value of any type.
#[derive(Clone, Copy)]
pub(super) struct Zero {
    depth: u8,
}

impl Zero {
    pub(super) const NEW: Self = Zero { depth: 0 };

    fn deeper(self) -> Result<Self, Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Here);
        }
        Ok(Zero {
            depth: self.depth + 1,
        })
    }
}

impl IntoDeserializer<'_, Stop> for Zero {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// `deserialize_*` methods that visit a constant.
macro_rules! constants {
    ($($method:ident => $visit:ident($($value:expr)?),)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            visitor.$visit($($value)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Zero {
    type Error = Stop;

    fn is_human_readable(&self) -> bool {
        false
    }

    constants! {
        deserialize_any => visit_unit(),
        deserialize_bool => visit_bool(false),
        deserialize_i8 => visit_i8(0),
        deserialize_i16 => visit_i16(0),
        deserialize_i32 => visit_i32(0),
        deserialize_i64 => visit_i64(0),
        deserialize_i128 => visit_i128(0),
        deserialize_u8 => visit_u8(0),
        deserialize_u16 => visit_u16(0),
        deserialize_u32 => visit_u32(0),
        deserialize_u64 => visit_u64(0),
        deserialize_u128 => visit_u128(0),
        deserialize_f32 => visit_f32(0.0),
        deserialize_f64 => visit_f64(0.0),
        deserialize_char => visit_char('0'),
        deserialize_str => visit_str(""),
        deserialize_string => visit_str(""),
        deserialize_bytes => visit_bytes(&[]),
        deserialize_byte_buf => visit_bytes(&[]),
        deserialize_option => visit_none(),
        deserialize_unit => visit_unit(),
        deserialize_identifier => visit_str(""),
        deserialize_ignored_any => visit_unit(),
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self.deeper()?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<Zero>()))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        let members = std::iter::repeat_n(self.deeper()?, len);
        visitor.visit_seq(SeqDeserializer::new(members))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_map(MapDeserializer::new(std::iter::empty::<(Zero, Zero)>()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        // By position, because a field with aliases has several names and may be given once only. A struct reads as many
        // members as it has fields.
        visitor.visit_seq(SeqDeserializer::new(std::iter::repeat(self.deeper()?)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let name = variants.first().ok_or(Stop::Here)?;
        visitor.visit_enum(FirstVariant {
            name,
            content: self.deeper()?,
        })
    }
}

/// A variant, with the least content.
struct FirstVariant {
    name: &'static str,
    content: Zero,
}

impl<'de> EnumAccess<'de> for FirstVariant {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Stop> {
        let name = seed.deserialize(self.name.into_deserializer())?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for FirstVariant {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Stop> {
        seed.deserialize(self.content)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        self.content.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.content.deserialize_struct("", fields, visitor)
    }
}
