//! The encoding of a state without its type.

use super::{AnyEffects, AnyState, StateBox, StateType, effects_mut, effects_ref, state_ref};
use crate::migration::Migrate;
use crate::state::{State, StateCodec, Values};
use petalflow_store::codec::CodecError;

/// The encoding of a state's values, key by key. Each function takes the index of a key. See [`StateCodec`].
#[derive(Clone, Copy)]
pub(crate) struct AnyCodec {
    /// The type of the states that it encodes.
    pub(crate) ty: &'static StateType,
    /// Appends the value of the key.
    pub(crate) save: fn(&dyn AnyState, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Creates a state from stored values.
    pub(crate) load: fn(&Values<'_>) -> Result<StateBox, CodecError>,
    /// Appends the writes to the key.
    pub(crate) save_writes: fn(&dyn AnyEffects, usize, &mut Vec<u8>) -> Result<(), CodecError>,
    /// Adds stored writes.
    pub(crate) load_writes: fn(&mut dyn AnyEffects, usize, &[u8]) -> Result<(), CodecError>,
    /// Adds a write of a stored value.
    pub(crate) load_value: fn(&mut dyn AnyEffects, usize, &[u8]) -> Result<(), CodecError>,
    /// The version of the state and the migrations from lower versions; `None` at version 0.
    pub(crate) version: Option<(u32, Migrate)>,
}

impl AnyCodec {
    /// The encoding of this type. `None` for a volatile state.
    pub(crate) fn of<S: State>() -> Option<Self> {
        let codec = S::codec()?;
        Some(AnyCodec {
            ty: StateType::of::<S>(),
            save: |state, key, out| (codec_of::<S>().save)(state_ref::<S>(state), key, out),
            load: |values| match (codec_of::<S>().load)(values) {
                Ok(state) => Ok(Box::new(state)),
                Err(error) => Err(error),
            },
            save_writes: |effects, key, out| {
                (codec_of::<S>().save_writes)(&effects_ref::<S>(effects).update, key, out)
            },
            load_writes: |effects, key, bytes| {
                (codec_of::<S>().load_writes)(&mut effects_mut::<S>(effects).update, key, bytes)
            },
            load_value: |effects, key, bytes| {
                (codec_of::<S>().load_value)(&mut effects_mut::<S>(effects).update, key, bytes)
            },
            version: codec.version,
        })
    }
}

fn codec_of<S: State>() -> StateCodec<S> {
    match S::codec() {
        Some(codec) => codec,
        None => unreachable!("whether a state is volatile does not change"),
    }
}
