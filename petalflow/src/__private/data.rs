//! `Deserialize` for the input type of a state.

use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{DeserializeSeed, Error, Visitor};

use crate::node::Key;
use crate::state::{State, Update};

pub use serde_core::de::{Deserialize, Deserializer, MapAccess};

/// What a question must be. A name of its own: rustc shows the path of a re-exported `Serialize` in messages.
pub trait Question: serde_core::Serialize + Send + Sync + 'static {}

impl<T: serde_core::Serialize + Send + Sync + 'static> Question for T {}

/// Reads the keys of an input. Implemented if all of them can be read.
pub trait ReadInput<'de, S: State> {
    /// Reads the value of the key with this index.
    fn read_key<A: MapAccess<'de>>(
        key: usize,
        map: &mut A,
        values: &mut Update<S>,
    ) -> Result<(), A::Error>;
}

/// The default of a key that has one.
pub fn explicit<K: Key>() -> K::Value {
    let initial = K::initial();
    initial.unwrap_or_else(|| unreachable!("the macro calls it for keys with a default"))
}

/// Reads the value of a key.
pub fn read_key<'de, K: Key<Value: Deserialize<'de>>, A: MapAccess<'de>>(
    map: &mut A,
    values: &mut Update<K::State>,
) -> Result<(), A::Error> {
    if !values.of::<K>().is_empty() {
        return Err(A::Error::duplicate_field(K::NAME));
    }
    values.set::<K>(map.next_value()?);
    Ok(())
}

/// The value of a key without a default. A missing `Option` is `None`, as in the structs of serde.
pub fn required<'de, K: Key<Value: Deserialize<'de>>, E: Error>(
    values: &mut Update<K::State>,
) -> Result<K::Value, E> {
    let error = PhantomData;
    match values.take_first::<K>() {
        Some(value) => Ok(value),
        None => K::Value::deserialize(Missing {
            key: K::NAME,
            error,
        }),
    }
}

/// The value of a key, which is the initial value of the key if it is missing.
pub fn or_initial<K: Key>(values: &mut Update<K::State>) -> K::Value {
    values.take_first::<K>().unwrap_or_else(explicit::<K>)
}

/// The value of a key, which is the default of the type if it is missing. The reducer folds it into the initial value without
/// a change.
pub fn or_default<K: Key<Value: Default>>(values: &mut Update<K::State>) -> K::Value {
    values.take_first::<K>().unwrap_or_default()
}

/// Reads a map of keys. The error for an unknown key lists the keys of the input.
pub fn read_input<'de, S: State, I: ReadInput<'de, S>, D: Deserializer<'de>>(
    deserializer: D,
    name: &'static str,
    keys: &'static [&'static str],
) -> Result<Update<S>, D::Error> {
    let input = Input::<S, I> {
        name,
        keys,
        of: PhantomData,
    };
    deserializer.deserialize_struct(name, keys, input)
}

struct Input<S, I> {
    name: &'static str,
    keys: &'static [&'static str],
    of: PhantomData<(S, I)>,
}

impl<'de, S: State, I: ReadInput<'de, S>> Visitor<'de> for Input<S, I> {
    type Value = Update<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a map with the keys of `{}`", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Update<S>, A::Error> {
        let mut values = Update::default();
        while let Some(key) = map.next_key_seed(KeyIndex(self.keys))? {
            I::read_key(key, &mut map, &mut values)?;
        }
        Ok(values)
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
