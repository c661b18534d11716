//! The encoding of a state's values, key by key.

use crate::migration::Migrate;
use crate::state::{KeyFlag, State, Update};
use petalflow_store::codec::CodecError;

/// Functions that encode and decode the keys of `S`. Each takes the key's index. For a key that is not stored, they do
/// nothing.
#[doc(hidden)]
pub struct StateCodec<S: State> {
    /// Appends the value of the key.
    pub save: fn(&S, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Creates a state from stored values.
    pub load: fn(&Values<'_>) -> Result<S, CodecError>,
    /// Appends the writes of an update to the key.
    pub save_writes: fn(&Update<S>, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Adds stored writes to an update.
    pub load_writes: fn(&mut Update<S>, usize, &[u8]) -> Result<(), CodecError>,
    /// Adds a write of a stored value to an update.
    pub load_value: fn(&mut Update<S>, usize, &[u8]) -> Result<(), CodecError>,
    /// The version of the state and the migrations from lower versions; `None` at version 0.
    pub version: Option<(u32, Migrate)>,
}

impl<S: State> Clone for StateCodec<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State> Copy for StateCodec<S> {}

impl_debug!([S: State] StateCodec<S>);

/// Stored values by the index of their key.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Values<'a>(Vec<Option<&'a [u8]>>);

impl<'a> Values<'a> {
    /// Creates an empty set for this many keys.
    pub(crate) fn new(keys: usize) -> Self {
        Values(vec![None; keys])
    }

    pub(crate) fn set(&mut self, key: usize, bytes: &'a [u8]) {
        self.0[key] = Some(bytes);
    }

    /// The stored value of a key.
    pub fn get(&self, key: usize) -> Option<&'a [u8]> {
        self.0.get(key).copied().flatten()
    }
}

impl<S: State> StateCodec<S> {
    /// The codec of a state with these codecs of its keys.
    pub(crate) fn of_state() -> Option<Self> {
        S::CODECS?;
        Some(StateCodec {
            save: |state, key, out| (codec_of(key).save)(state, out),
            load: load_state,
            save_writes: |update, key, out| (codec_of(key).save_writes)(update, out),
            load_writes: |update, key, bytes| (codec_of(key).load_writes)(update, bytes),
            load_value: |update, key, bytes| (codec_of(key).load)(update, bytes),
            version: S::MIGRATION,
        })
    }
}

/// The codec of a key. It does nothing if there is no key with this index, or the key is not stored.
fn codec_of<S: State>(key: usize) -> &'static KeyCodec<S> {
    match S::CODECS {
        Some(codecs) if key < codecs.len() => &codecs[key],
        _ => const { &KeyCodec::NONE },
    }
}

fn load_state<S: State>(values: &Values<'_>) -> Result<S, CodecError> {
    let mut update = Update::default();
    for (index, key) in S::KEYS.iter().enumerate() {
        if let Some(bytes) = values.get(index) {
            (codec_of(index).load)(&mut update, bytes)?;
        } else if key.has(KeyFlag::Required) {
            return Err(CodecError::Missing(key.name));
        }
    }
    match S::build(&mut update) {
        Some(state) => Ok(state),
        None => unreachable!("each key without a default has a value"),
    }
}

/// The functions that encode and decode one key. They are in a table of their own, so that a program whose runs are not
/// stored does not compile them.
#[doc(hidden)]
pub struct KeyCodec<S: State> {
    pub(crate) save: fn(&S, &mut Vec<u8>) -> Result<(), CodecError>,
    pub(crate) save_writes: fn(&Update<S>, &mut Vec<u8>) -> Result<(), CodecError>,
    pub(crate) load: fn(&mut Update<S>, &[u8]) -> Result<(), CodecError>,
    pub(crate) load_writes: fn(&mut Update<S>, &[u8]) -> Result<(), CodecError>,
}

impl_debug!([S: State] KeyCodec<S>);

impl<S: State> KeyCodec<S> {
    /// For a key that is not stored.
    pub const NONE: Self = KeyCodec {
        save: |_, _| Ok(()),
        save_writes: |_, _| Ok(()),
        load: |_, _| Ok(()),
        load_writes: |_, _| Ok(()),
    };
}
