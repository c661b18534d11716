//! The begin of a turn on a state that an earlier one has left.

use super::{AnyState, InputBox};
use crate::state::{KeyFlag, KeyMeta, KeySet, WriteError};

/// Begins a turn: what lasts one turn loses its value, except for the ephemeral keys in `kept`. Returns the keys that were reset.
pub(crate) fn begin_turn(state: &mut dyn AnyState, written: &mut KeySet, kept: KeySet) -> KeySet {
    let ty = state.ty();
    let ephemeral = ty.ephemeral.minus(kept);
    let turn = KeyMeta::set(ty.keys, KeyFlag::Turn).union(ephemeral);
    state.reset(turn);
    *written = written
        .minus(turn)
        .union(KeyMeta::set(ty.keys, KeyFlag::Assigned));
    turn
}

/// Applies the input of a turn that has begun.
pub(crate) fn apply_input(
    state: &mut dyn AnyState,
    written: &mut KeySet,
    input: InputBox,
) -> Result<(), WriteError> {
    let mut writes = (state.ty().input)(input);
    state.validate(KeySet::NONE, &[&*writes])?;
    let overwritten = writes.overwritten();
    // This is not a superstep: values that last one superstep remain.
    state.commit(&mut *writes, overwritten, written);
    Ok(())
}
