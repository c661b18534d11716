//! `Deserialize` for the input type of a state.

use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{DeserializeOwned, DeserializeSeed, Error, Visitor};

pub use serde_core::de::{Deserialize, Deserializer, MapAccess};

/// What a question must be. A name of its own: rustc shows the path of a re-exported `Serialize` in messages.
pub trait Question: serde_core::Serialize + Send + Sync + 'static {}

impl<T: serde_core::Serialize + Send + Sync + 'static> Question for T {}

/// The values of the keys that were read, one slot per key.
pub trait Slots<'de> {
    /// Reads the value of the key with this index. Returns false if it was read before.
    fn read<A: MapAccess<'de>>(&mut self, key: usize, map: &mut A) -> Result<bool, A::Error>;
}

/// The value of a key, for a conditional bound: see [`CloneFor`](super::CloneFor). It has functions of its own, because rustc
/// cannot choose between the `Deserialize` bounds of two keys of one type.
pub trait DataFor<'a, const KEY: usize>: Sized {
    /// Reads a value. Returns false if there is one already.
    fn read<'de, A: MapAccess<'de>>(slot: &mut Option<Self>, map: &mut A)
    -> Result<bool, A::Error>;

    /// The value of a key without a default. A missing `Option` is `None`, as in the structs of serde.
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

/// Reads a map of keys. The error for an unknown key lists the keys of the input.
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

/// Deserializes the name of a key to its index.
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
        let index = self.0.iter().position(|key| *key == name);
        index.ok_or_else(|| E::unknown_field(name, self.0))
    }
}

/// The deserializer of a missing key.
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
