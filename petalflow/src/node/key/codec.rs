//! The encoding of a key in the table of its state.

use serde_core::{Serialize, de::DeserializeOwned};

use petalflow_store::codec::{CodecError, FieldOutline, decode, encode, fields_of};

use super::Key;
use crate::state::codec::KeyCodec;
use crate::state::{State, Update, Write, Writes};

impl<S: State> KeyCodec<S> {
    /// The codec of the key `K`.
    pub const fn of<K: Key<State = S>>() -> Self
    where
        K::Value: Serialize + DeserializeOwned,
    {
        KeyCodec {
            save: |state, out| encode(K::get(state), out),
            save_writes: |update, out| save_writes(update.of::<K>(), out),
            load: load::<K>,
            load_writes: load_writes::<K>,
        }
    }
}

fn load<K: Key<Value: DeserializeOwned>>(
    update: &mut Update<K::State>,
    bytes: &[u8],
) -> Result<(), CodecError> {
    match decode(bytes) {
        Ok(value) => {
            // The first of two values stays.
            let _ = update.add::<K>(value, true);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// A new update accepts the writes of a stored update.
fn load_writes<K: Key<Value: DeserializeOwned>>(
    update: &mut Update<K::State>,
    bytes: &[u8],
) -> Result<(), CodecError> {
    match decode::<Vec<(bool, K::Value)>>(bytes) {
        Ok(writes) => {
            for (overwrite, value) in writes {
                let _ = update.add::<K>(value, overwrite);
            }
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Encodes the writes: whether each is an overwrite, and its value.
fn save_writes<T: Serialize>(writes: &Writes<T>, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let writes: Vec<(bool, &T)> = writes
        .iter()
        .map(|write| (matches!(write, Write::Overwrite(_)), write.value()))
        .collect();
    encode(&writes, out)
}

/// What the value of a key consists of: for `flow.lock`.
pub fn fields_of_key<K: Key<Value: DeserializeOwned>>() -> Vec<FieldOutline> {
    fields_of::<K::Value>(K::META.id)
}
