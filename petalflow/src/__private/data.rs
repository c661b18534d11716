//! Input that comes as data: what `#[state]` makes of `Deserialize` for the input type.

use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{DeserializeOwned, DeserializeSeed, Error, Visitor};

pub use serde_core::de::{Deserialize, Deserializer, MapAccess};

/// The keys read so far, each in a place of its own.
pub trait Slots<'de> {
    /// Reads the value of the key at an index; false if it was read before.
    fn read<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<bool, A::Error>;
}

/// The value of a key, conditionally: see [`CloneFor`](super::CloneFor). It has functions of its own, because rustc could not
/// choose between what two keys of one type say of `Deserialize`.
pub trait DataFor<'a, const KEY: usize>: Sized {
    /// Reads a value; false if there is one.
    fn read<'de, A: MapAccess<'de>>(slot: &mut Option<Self>, map: &mut A)
    -> Result<bool, A::Error>;

    /// The value of a key that has none to fall back to: an `Option` is then `None`, as in serde's own structs.
    fn required<E: Error>(slot: Option<Self>, key: &'static str) -> Result<Self, E>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned, const KEY: usize> DataFor<'_, KEY> for T {
    fn read<'de, A: MapAccess<'de>>(slot: &mut Option<T>, map: &mut A) -> Result<bool, A::Error> {
        let new = slot.is_none();
        if new {
            *slot = Some(map.next_value()?);
        }
        Ok(new)
    }

    fn required<E: Error>(slot: Option<T>, key: &'static str) -> Result<T, E> {
        let error = PhantomData;
        slot.map_or_else(|| T::deserialize(Missing { key, error }), Ok)
    }
}

/// Reads a map of keys. One that is not part of the input is an error, which names those that are.
pub fn read_input<'de, D: Deserializer<'de>, S: Slots<'de>>(
    deserializer: D,
    name: &'static str,
    keys: &'static [&'static str],
    slots: &mut S,
) -> Result<(), D::Error> {
    deserializer.deserialize_struct(name, keys, Input { name, keys, slots })
}

struct Input<'s, S> {
    name: &'static str,
    keys: &'static [&'static str],
    slots: &'s mut S,
}

impl<'de, S: Slots<'de>> Visitor<'de> for Input<'_, S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a map with the keys of `{}`", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key_seed(KeyIndex(self.keys))? {
            if !self.slots.read(key, &mut map)? {
                return Err(A::Error::duplicate_field(self.keys[key]));
            }
        }
        Ok(())
    }
}

/// A key's name becomes its index.
struct KeyIndex(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeyIndex {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeyIndex {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let place = self.0.iter().position(|key| *key == name);
        place.ok_or_else(|| E::unknown_field(name, self.0))
    }
}

/// What a missing key is read from.
struct Missing<E> {
    key: &'static str,
    error: PhantomData<E>,
}

impl<'de, E: Error> Deserializer<'de> for Missing<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.key))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    serde_core::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
