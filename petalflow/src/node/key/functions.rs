//! The functions of a key in the table of its state. Each is written once, generic over the key. They only find the value and
//! the writes; the rest is generic over the type of the value, so that keys of one type share it.

use super::Key;
use crate::state::functions::{Fold, KeyFunctions};
use crate::state::{State, Update, WriteError, Writes};

impl<S: State> KeyFunctions<S> {
    /// The functions of the key `K`.
    pub const fn of<K: Key<State = S>>() -> Self {
        KeyFunctions {
            fold: fold::<K>,
            check: check::<K>,
            reset: reset::<K>,
            copy_value: copy_value::<K>,
            copy_writes: copy_writes::<K>,
        }
    }
}

fn fold<K: Key>(state: &mut K::State, update: &mut Update<K::State>, how: Fold) -> bool {
    let (current, writes) = (K::get_mut(state), K::slot_mut(&mut update.slots));
    if how.unset && K::META.folds_from_first() {
        return fold_from_first(writes, current, how.overwritten, K::fold);
    }
    writes.fold_into(
        current,
        how.overwritten,
        K::fold as fn(&mut K::Value, K::Value),
    )
}

/// The first write becomes the value, because it must not be folded into a made-up one.
fn fold_from_first<T>(
    writes: &mut Writes<T>,
    current: &mut T,
    overwritten: bool,
    fold: fn(&mut T, T),
) -> bool {
    let mut first = true;
    writes.fold_into(current, overwritten, |current, value| {
        if std::mem::take(&mut first) {
            *current = value;
        } else {
            fold(current, value);
        }
    })
}

fn check<K: Key>(
    state: &K::State,
    expired: bool,
    updates: &[&Update<K::State>],
) -> Result<(), WriteError> {
    if let ([update], false) = (updates, expired) {
        return K::check(K::get(state), &[K::slot(&update.slots)]);
    }
    let mut writes = Vec::with_capacity(updates.len());
    for update in updates {
        writes.push(K::slot(&update.slots));
    }
    match K::initial() {
        Some(initial) if expired => K::check(&initial, &writes),
        _ => K::check(K::get(state), &writes),
    }
}

fn reset<K: Key>(state: &mut K::State) {
    if let Some(initial) = K::initial() {
        *K::get_mut(state) = initial;
    }
}

fn copy_value<K: Key>(state: &K::State, to: &mut Update<K::State>) {
    to.set::<K>(K::get(state).clone());
}

fn copy_writes<K: Key>(from: &Update<K::State>, to: &mut Update<K::State>) {
    K::slot_mut(&mut to.slots).clone_from(K::slot(&from.slots));
}
