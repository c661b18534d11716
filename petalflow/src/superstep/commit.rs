//! Commits a superstep: checks all of its writes, then applies them.

use crate::erased::{AnyEffects, AnyState};
use crate::state::{KeySet, WriteError};

/// Commits the writes of a superstep of one task, if it has any.
#[inline]
pub(crate) fn commit_one(
    state: &mut dyn AnyState,
    written: &mut KeySet,
    effects: &mut dyn AnyEffects,
) -> Result<(), WriteError> {
    let ty = state.ty();
    if ty.ephemeral.is_empty() && effects.written().is_empty() {
        return Ok(());
    }
    state.validate(ty.expiring(*written), &[&*effects])?;
    expire(state, written);
    let overwritten = effects.overwritten();
    state.commit(effects, overwritten, written);
    Ok(())
}

/// Checks that the writes of several tasks can be applied in this order, after the keys in `expired` are reset. Returns the keys that they overwrite.
pub(crate) fn prepare(
    state: &dyn AnyState,
    expired: KeySet,
    effects: &[&dyn AnyEffects],
) -> Result<KeySet, WriteError> {
    let ty = state.ty();
    let mut once = KeySet::NONE;
    let mut overwritten = KeySet::NONE;
    for effects in effects {
        let (writes, overwrites) = (effects.written(), effects.overwritten());
        let again = once.intersection(writes).intersection(ty.exclusive);
        if let Some(key) = again.first() {
            return Err(WriteError::second_write(ty.keys[key].name));
        }
        if let Some(key) = overwritten.intersection(overwrites).first() {
            return Err(WriteError::second_overwrite(ty.keys[key].name));
        }
        once = once.union(writes);
        overwritten = overwritten.union(overwrites);
    }
    state.validate(expired, effects)?;
    Ok(overwritten)
}

/// Applies writes that [`prepare`] has checked, in this order.
pub(crate) fn apply<'a>(
    state: &mut dyn AnyState,
    written: &mut KeySet,
    overwritten: KeySet,
    effects: impl Iterator<Item = &'a mut dyn AnyEffects>,
) {
    expire(state, written);
    for effects in effects {
        state.commit(effects, overwritten, written);
    }
}

/// Resets the values that last one superstep, before the next writes are applied.
fn expire(state: &mut dyn AnyState, written: &mut KeySet) {
    let expired = state.ty().expiring(*written);
    if !expired.is_empty() {
        state.reset(expired);
        *written = written.minus(expired);
    }
}
