//! A deserializer that goes to one place of a type, notes what is there, and stops.

use std::cell::RefCell;

use serde_core::de::value::{MapDeserializer, SeqDeserializer};
use serde_core::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::place::{Found, Place, Step, Stop};
use super::zero::Zero;

#[derive(Clone, Copy)]
pub(super) struct Recorder<'a> {
    /// The rest of the path to the place.
    pub(super) steps: &'a [Step],
    /// The only fields of the struct there, if a value of it is to be made.
    pub(super) given: Option<&'a [&'static str]>,
    pub(super) found: &'a RefCell<Found>,
}

impl Recorder<'_> {
    /// The next step, or the place that was looked for.
    fn next(self, place: Place) -> Result<(Step, Self), Stop> {
        if let Some((step, steps)) = self.steps.split_first() {
            return Ok((*step, Recorder { steps, ..self }));
        }
        self.found.borrow_mut().place = Some(place);
        Err(Stop::Here)
    }

    fn value<T>(self, name: &'static str) -> Result<T, Stop> {
        // A path never leads through a value.
        self.found.borrow_mut().place = Some(Place::Value(name));
        Err(Stop::Here)
    }

    fn fields<'de, V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        if let (Some(given), []) = (self.given, self.steps) {
            let fields = given.iter().map(|name| (*name, Zero::NEW));
            visitor.visit_map(MapDeserializer::new(fields))?;
            self.found.borrow_mut().made = true;
            return Err(Stop::Here);
        }
        match self.next(Place::Struct(names))? {
            (Step::Field(name), inside) => visitor.visit_map(One {
                name: Some(name),
                inside,
            }),
            _ => Err(Stop::Here),
        }
    }

    fn members<'de, V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        match self.next(Place::Tuple(len))? {
            (Step::Member(index), inside) => visitor.visit_seq(Member {
                before: index,
                inside,
            }),
            _ => Err(Stop::Here),
        }
    }
}

impl IntoDeserializer<'_, Stop> for Recorder<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// `deserialize_*` methods of values without parts.
macro_rules! values {
    ($($method:ident => $name:literal,)*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stop> {
            self.value($name)
        }
    )*};
}

impl<'de> Deserializer<'de> for Recorder<'_> {
    type Error = Stop;

    fn is_human_readable(&self) -> bool {
        false
    }

    values! {
        deserialize_any => "value",
        deserialize_bool => "bool",
        deserialize_i8 => "i8",
        deserialize_i16 => "i16",
        deserialize_i32 => "i32",
        deserialize_i64 => "i64",
        deserialize_i128 => "i128",
        deserialize_u8 => "u8",
        deserialize_u16 => "u16",
        deserialize_u32 => "u32",
        deserialize_u64 => "u64",
        deserialize_u128 => "u128",
        deserialize_f32 => "f32",
        deserialize_f64 => "f64",
        deserialize_char => "char",
        deserialize_str => "text",
        deserialize_string => "text",
        deserialize_bytes => "bytes",
        deserialize_byte_buf => "bytes",
        deserialize_unit => "unit",
        deserialize_identifier => "text",
        deserialize_ignored_any => "value",
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: V,
    ) -> Result<V::Value, Stop> {
        self.value("unit")
    }

    /// A newtype is stored as what it contains.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let (_, inside) = self.next(Place::Option)?;
        visitor.visit_some(inside)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let (_, inside) = self.next(Place::List)?;
        visitor.visit_seq(SeqDeserializer::new(std::iter::once(inside)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let (_, inside) = self.next(Place::Map)?;
        visitor.visit_map(MapDeserializer::new(std::iter::once((Zero::NEW, inside))))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        self.members(len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.members(len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.fields(fields, visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        match self.next(Place::Enum(variants))? {
            (Step::Variant(name), inside) => visitor.visit_enum(Variant { name, inside }),
            _ => Err(Stop::Here),
        }
    }
}

/// A struct of which only this field is given.
struct One<'a> {
    name: Option<&'static str>,
    inside: Recorder<'a>,
}

impl<'de> MapAccess<'de> for One<'_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Stop> {
        let name = self.name.take();
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        seed.deserialize(self.inside)
    }
}

/// A tuple up to this member. Those before it are the least values of their types.
struct Member<'a> {
    before: usize,
    inside: Recorder<'a>,
}

impl<'de> SeqAccess<'de> for Member<'_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Stop> {
        if self.before == 0 {
            return seed.deserialize(self.inside).map(Some);
        }
        self.before -= 1;
        seed.deserialize(Zero::NEW).map(Some)
    }
}

/// A variant of an enum.
struct Variant<'a> {
    name: &'static str,
    inside: Recorder<'a>,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Stop> {
        let name = seed.deserialize(self.name.into_deserializer())?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        self.inside.value("unit")
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Stop> {
        seed.deserialize(self.inside)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        self.inside.members(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.inside.fields(fields, visitor)
    }
}
