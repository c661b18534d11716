//! Commits a superstep: checks all of its writes, then applies them.

use crate::state::{KeySet, State, Update, WriteError};

/// Commits the writes of a superstep of one task, if it has any.
#[allow(
    clippy::inline_always,
    reason = "the dispatch of a loop calls it in each superstep, and rustc inlines it or not by chance"
)]
#[inline(always)]
pub(crate) fn commit_one<S: State>(
    state: &mut S,
    written: &mut KeySet,
    update: &mut Update<S>,
) -> Result<(), WriteError> {
    if S::EPHEMERAL.is_empty() && !update.written_any() {
        return Ok(());
    }
    state.validate(expired::<S>(*written), std::iter::once(&*update))?;
    expire(state, written);
    let overwritten = update.overwritten();
    state.commit(update, overwritten, written);
    Ok(())
}

/// Checks that the writes of several tasks can be applied in this order, after the keys in `expired` are reset. Returns the keys that they overwrite.
pub(crate) fn prepare<'a, S: State>(
    state: &'a S,
    expired: KeySet,
    updates: impl Iterator<Item = &'a Update<S>> + Clone,
) -> Result<KeySet, WriteError> {
    let mut once = KeySet::NONE;
    let mut overwritten = KeySet::NONE;
    for update in updates.clone() {
        let again = once
            .intersection(update.written())
            .intersection(S::EXCLUSIVE);
        if let Some(key) = again.first() {
            return Err(WriteError::second_write(S::KEYS[key].name));
        }
        if let Some(key) = overwritten.intersection(update.overwritten()).first() {
            return Err(WriteError::second_overwrite(S::KEYS[key].name));
        }
        once = once.union(update.written());
        overwritten = overwritten.union(update.overwritten());
    }
    state.validate(expired, updates)?;
    Ok(overwritten)
}

/// Applies writes that [`prepare`] has checked, in this order.
pub(crate) fn apply<'a, S: State>(
    state: &mut S,
    written: &mut KeySet,
    overwritten: KeySet,
    updates: impl Iterator<Item = &'a mut Update<S>>,
) {
    expire(state, written);
    for update in updates {
        state.commit(update, overwritten, written);
    }
}

/// The keys whose values end before the next writes are applied.
pub(crate) fn expired<S: State>(written: KeySet) -> KeySet {
    written.intersection(S::EPHEMERAL)
}

/// Resets the values that last one superstep, before the next writes are applied.
fn expire<S: State>(state: &mut S, written: &mut KeySet) {
    // Known at compile time: most states have no such keys.
    if S::EPHEMERAL.is_empty() {
        return;
    }
    let expired = expired::<S>(*written);
    if !expired.is_empty() {
        state.reset(expired);
        *written = written.minus(expired);
    }
}
