//! What a state does with its keys. Each function on a key is written once, generic over the key, and reached through the
//! table of the state. The functions per key only find the value and the writes; the rest is generic over the type of the
//! value, so that keys of one type share it.

use super::{KeySet, State, Update, WriteError, Writes};
use crate::node::Key;

/// The keys of a state that are marked `input`. Implemented by [`#[state]`](macro@crate::state).
#[doc(hidden)]
pub trait Input<S: State>: Send + 'static {
    /// Adds a write of each key.
    fn write(self, update: &mut Update<S>);
}

/// The functions of a key.
#[doc(hidden)]
pub struct KeyFunctions<S: State> {
    fold: fn(&mut S, &mut Update<S>, Fold) -> bool,
    check: fn(&S, bool, &[&Update<S>]) -> Result<(), WriteError>,
    reset: fn(&mut S),
    copy_value: fn(&S, &mut Update<S>),
    copy_writes: fn(&Update<S>, &mut Update<S>),
}

impl_debug!([S: State] KeyFunctions<S>);

/// What else is known when writes fold.
#[derive(Clone, Copy)]
struct Fold {
    /// Another write of the superstep overwrites the key.
    overwritten: bool,
    /// The key has no value.
    unset: bool,
}

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

    pub(super) fn reset(&self, state: &mut S) {
        (self.reset)(state);
    }

    pub(super) fn copy_writes(&self, from: &Update<S>, to: &mut Update<S>) {
        (self.copy_writes)(from, to);
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

/// See [`State::commit`].
#[inline]
pub(super) fn commit<S: State>(
    state: &mut S,
    update: &mut Update<S>,
    overwritten: KeySet,
    written: &mut KeySet,
) {
    for key in update.take_marks().iter() {
        let how = Fold {
            overwritten: overwritten.contains(key),
            unset: !written.contains(key),
        };
        if (S::FUNCTIONS[key].fold)(state, update, how) {
            written.insert(key);
        }
    }
}

/// See [`State::validate`].
pub(super) fn validate<'a, S: State>(
    state: &'a S,
    expired: KeySet,
    updates: impl Iterator<Item = &'a Update<S>> + Clone,
) -> Result<(), WriteError> {
    let mut written = KeySet::NONE;
    for update in updates.clone() {
        written = written.union(update.written());
    }
    let checked = written.intersection(S::CHECKED);
    if checked.is_empty() {
        return Ok(());
    }
    // Usually there is one update, which needs no list.
    let mut rest = updates.clone();
    let (first, second) = (rest.next(), rest.next());
    let list: Vec<&Update<S>>;
    let updates: &[&Update<S>] = if let (Some(only), None) = (&first, second) {
        std::slice::from_ref(only)
    } else {
        list = updates.collect();
        &list
    };
    for key in checked.iter() {
        (S::FUNCTIONS[key].check)(state, expired.contains(key), updates)?;
    }
    Ok(())
}

/// See [`State::start`].
pub(super) fn start<S: State>(input: S::Input) -> Result<(S, KeySet), WriteError> {
    let mut update = S::input(input);
    let Some(mut state) = S::build(&mut update) else {
        unreachable!("the input has each key without a default");
    };
    let mut written = super::KeyMeta::set(S::KEYS, super::KeyFlag::Assigned);
    state.validate(KeySet::NONE, std::iter::once(&update))?;
    state.commit(&mut update, KeySet::NONE, &mut written);
    Ok((state, written))
}

/// See [`State::copier`].
pub(super) fn copy<S: State>(state: &S) -> S {
    let mut values = Update::default();
    for functions in S::FUNCTIONS {
        (functions.copy_value)(state, &mut values);
    }
    match S::build(&mut values) {
        Some(copy) => copy,
        None => unreachable!("each key has a value"),
    }
}
