//! What a state does with its keys: the table of functions per key, which `node::key` fills, and what uses it.

use super::{KeySet, State, Update, WriteError};

/// The keys of a state that are marked `input`. Implemented by [`#[state]`](macro@crate::state).
#[doc(hidden)]
pub trait Input<S: State>: Send + 'static {
    /// Adds a write of each key.
    fn write(self, update: &mut Update<S>);
}

/// The functions of a key.
#[doc(hidden)]
pub struct KeyFunctions<S: State> {
    pub(crate) fold: fn(&mut S, &mut Update<S>, Fold) -> bool,
    pub(crate) check: fn(&S, bool, &[&Update<S>]) -> Result<(), WriteError>,
    pub(crate) reset: fn(&mut S),
    pub(crate) copy_value: fn(&S, &mut Update<S>),
    pub(crate) copy_writes: fn(&Update<S>, &mut Update<S>),
}

impl_debug!([S: State] KeyFunctions<S>);

/// What else is known when writes fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold {
    /// Another write of the superstep overwrites the key.
    pub(crate) overwritten: bool,
    /// The key has no value.
    pub(crate) unset: bool,
}

impl<S: State> KeyFunctions<S> {
    pub(super) fn reset(&self, state: &mut S) {
        (self.reset)(state);
    }

    pub(super) fn copy_writes(&self, from: &Update<S>, to: &mut Update<S>) {
        (self.copy_writes)(from, to);
    }
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
