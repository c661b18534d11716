//! A state's values as bytes, key by key.

#![allow(clippy::missing_errors_doc, reason = "called by generated code only")]

use std::fmt;
use std::marker::PhantomData;

use serde_core::{Serialize, de::DeserializeOwned};

use crate::migration::Migrate;
use crate::state::{State, Write, Writes};
use petalflow_codec::{CodecError, decode, encode};

/// How the keys of `S` are stored: functions that [`#[state]`](macro@crate::state) writes, each of which takes the key's index.
#[doc(hidden)]
pub struct StateCodec<S: State> {
    /// Appends the key's value.
    pub save: fn(&S, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Makes a state of stored values.
    pub load: fn(&Values<'_>) -> Result<S, CodecError>,
    /// Appends an update's writes to the key.
    pub save_writes: fn(&S::Update, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Adds stored writes to an update.
    pub load_writes: fn(&mut S::Update, usize, &[u8]) -> Result<(), CodecError>,
    /// Adds to an update that the key takes a stored value.
    pub load_value: fn(&mut S::Update, usize, &[u8]) -> Result<(), CodecError>,
    /// The version of the state, and what brings threads of lower versions up to it; `None` at version 0.
    pub version: Option<(u32, Migrate)>,
}

impl<S: State> Clone for StateCodec<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for StateCodec<S> {}

impl<S: State> fmt::Debug for StateCodec<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateCodec").finish_non_exhaustive()
    }
}

/// Stored values by the index of their key.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Values<'a>(Vec<Option<&'a [u8]>>);

impl<'a> Values<'a> {
    /// No values, of this many keys.
    #[inline]
    pub(crate) fn new(keys: usize) -> Self {
        Values(vec![None; keys])
    }

    pub(crate) fn set(&mut self, key: usize, bytes: &'a [u8]) {
        self.0[key] = Some(bytes);
    }

    /// The value of a key, if it is stored.
    pub fn get(&self, key: usize) -> Option<&'a [u8]> {
        self.0.get(key).copied().flatten()
    }
}

/// How values of a type are stored. `Coder::<T>::save(..)` also compiles for a type that cannot be, of which
/// [`StoredValue`](crate::__private::StoredValue) has said so: what is inherent wins over what a trait has.
#[doc(hidden)]
#[derive(Debug)]
pub struct Coder<T>(PhantomData<T>);

impl<T: Serialize + DeserializeOwned> Coder<T> {
    pub fn save(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
        encode(value, out)
    }

    pub fn load(bytes: &[u8]) -> Result<T, CodecError> {
        decode(bytes)
    }

    pub fn save_writes(writes: &Writes<T>, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let writes: Vec<(bool, &T)> = writes
            .iter()
            .map(|write| (matches!(write, Write::Overwrite(_)), write.value()))
            .collect();
        encode(&writes, out)
    }

    /// The stored writes: whether it is an overwrite, and of what.
    pub fn load_writes(bytes: &[u8]) -> Result<Vec<(bool, T)>, CodecError> {
        decode(bytes)
    }
}

/// What a type is asked that cannot be stored.
#[doc(hidden)]
pub trait NoCoder {
    type Value;

    fn save(_: &Self::Value, _: &mut Vec<u8>) -> Result<(), CodecError> {
        unreachable!("a program with such a key does not compile")
    }

    fn load(_: &[u8]) -> Result<Self::Value, CodecError> {
        unreachable!("a program with such a key does not compile")
    }

    fn save_writes(_: &Writes<Self::Value>, _: &mut Vec<u8>) -> Result<(), CodecError> {
        unreachable!("a program with such a key does not compile")
    }

    fn load_writes(_: &[u8]) -> Result<Vec<(bool, Self::Value)>, CodecError> {
        unreachable!("a program with such a key does not compile")
    }
}

impl<T> NoCoder for Coder<T> {
    type Value = T;
}
