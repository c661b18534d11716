//! A state without its type.

use std::any::Any;

use super::{AnyCodec, AnyEffects, EffectsBox, effects_mut, effects_ref};
use crate::node::Effects;
use crate::state::{KeyFlag, KeyMeta, KeySet, State, WriteError};
use petalflow_store::codec::FieldOutline;

/// A state of any type.
pub(crate) type StateBox = Box<dyn AnyState>;

/// The input of a run over a state of any type: its [`State::Input`].
pub(crate) type InputBox = Box<dyn Any + Send>;

/// Copies a state of the type for which it was made.
pub(crate) type CopyState = fn(&dyn AnyState) -> StateBox;

/// A state without its type. Every [`State`] is one.
pub(crate) trait AnyState: Any + Send + Sync {
    /// What its type says.
    fn ty(&self) -> &'static StateType;

    /// See [`State::reset`].
    fn reset(&mut self, keys: KeySet);

    /// See [`State::commit`].
    fn commit(&mut self, effects: &mut dyn AnyEffects, overwritten: KeySet, written: &mut KeySet);

    /// See [`State::validate`].
    fn validate(&self, expired: KeySet, effects: &[&dyn AnyEffects]) -> Result<(), WriteError>;
}

impl<S: State> AnyState for S {
    fn ty(&self) -> &'static StateType {
        StateType::of::<S>()
    }

    fn reset(&mut self, keys: KeySet) {
        State::reset(self, keys);
    }

    fn commit(&mut self, effects: &mut dyn AnyEffects, overwritten: KeySet, written: &mut KeySet) {
        let update = &mut effects_mut::<S>(effects).update;
        State::commit(self, update, overwritten, written);
    }

    fn validate(&self, expired: KeySet, effects: &[&dyn AnyEffects]) -> Result<(), WriteError> {
        let updates = effects
            .iter()
            .map(|effects| &effects_ref::<S>(*effects).update);
        State::validate(self, expired, updates)
    }
}

/// What a type of states says: the constants and functions of [`State`] without a type parameter.
pub(crate) struct StateType {
    pub(crate) name: &'static str,
    pub(crate) keys: &'static [KeyMeta],
    /// The keys that lose their value after one superstep.
    pub(crate) ephemeral: KeySet,
    /// The keys that accept one write per superstep.
    pub(crate) exclusive: KeySet,
    /// The keys that are never stored.
    pub(crate) untracked: KeySet,
    /// The `untracked` keys that a node may read only after they were written. They have no value when a thread is loaded.
    pub(crate) lossy: KeySet,
    /// Whether it has keys for input. Without them a state is empty before the first superstep.
    pub(crate) has_input: bool,
    /// See [`State::start`].
    pub(crate) start: fn(InputBox) -> Result<(StateBox, KeySet), WriteError>,
    /// See [`State::input`].
    pub(crate) input: fn(InputBox) -> EffectsBox,
    /// Effects without a write.
    pub(crate) no_effects: fn() -> EffectsBox,
    /// The encoding of its values. `None` for a volatile state.
    pub(crate) codec: fn() -> Option<AnyCodec>,
    /// See [`State::fields`].
    pub(crate) fields: fn() -> Vec<FieldOutline>,
    /// Copies a state, if the type is `Clone`.
    pub(crate) copier: fn() -> Option<CopyState>,
}

impl_debug!(StateType, |this| name = this.name);

/// A place for the constant of one type.
struct Of<S>(S);

impl<S: State> Of<S> {
    const UNTRACKED: KeySet = KeyMeta::set(S::KEYS, KeyFlag::Untracked);
    const TYPE: &'static StateType = &StateType {
        name: S::NAME,
        keys: S::KEYS,
        ephemeral: S::EPHEMERAL,
        exclusive: S::EXCLUSIVE,
        untracked: Self::UNTRACKED,
        lossy: Self::UNTRACKED.minus(KeyMeta::set(S::KEYS, KeyFlag::Assigned)),
        has_input: !KeyMeta::set(S::KEYS, KeyFlag::Input).is_empty(),
        start: start::<S>,
        input: input::<S>,
        no_effects: || Box::new(Effects::<S>::default()),
        codec: AnyCodec::of::<S>,
        fields: S::fields,
        copier: copier::<S>,
    };
}

impl StateType {
    /// What the type says.
    pub(crate) const fn of<S: State>() -> &'static Self {
        Of::<S>::TYPE
    }

    /// The `untracked` keys whose loss is noted in checkpoints. Without the note, a value that was lost cannot be told from
    /// one that was never written. Values that last one superstep are not noted, because nothing would remove the note.
    pub(crate) fn noted(&self) -> KeySet {
        self.lossy.minus(self.ephemeral)
    }

    /// The keys whose values end before the next writes are applied.
    pub(crate) fn expired(&self, written: KeySet) -> KeySet {
        written.intersection(self.ephemeral)
    }
}

fn start<S: State>(input: InputBox) -> Result<(StateBox, KeySet), WriteError> {
    match S::start(input_of::<S>(input)) {
        Ok((state, written)) => Ok((Box::new(state), written)),
        Err(error) => Err(error),
    }
}

fn input<S: State>(input: InputBox) -> EffectsBox {
    Box::new(Effects::<S>::of(S::input(input_of::<S>(input))))
}

/// The input as a value of its type.
pub(crate) fn input_of<S: State>(input: InputBox) -> S::Input {
    match input.downcast::<S::Input>() {
        Ok(input) => *input,
        Err(_) => other_state(S::NAME),
    }
}

fn copier<S: State>() -> Option<CopyState> {
    S::copier()?;
    Some(|state| match S::copier() {
        Some(copy) => Box::new(copy(state_ref::<S>(state))),
        None => unreachable!("whether a type is `Clone` does not change"),
    })
}

/// A function that copies a state of this type.
pub(crate) fn copy_of<S: State + Clone>() -> CopyState {
    |state| Box::new(state_ref::<S>(state).clone())
}

/// The state as a value of its type.
pub(crate) fn state_ref<S: State>(state: &dyn AnyState) -> &S {
    let any: &dyn Any = state;
    match any.downcast_ref() {
        Some(state) => state,
        None => other_state(S::NAME),
    }
}

/// The same, to be changed.
pub(crate) fn state_mut<S: State>(state: &mut dyn AnyState) -> &mut S {
    let any: &mut dyn Any = state;
    match any.downcast_mut() {
        Some(state) => state,
        None => other_state(S::NAME),
    }
}

/// The same, out of its box.
pub(crate) fn into_state<S: State>(state: StateBox) -> S {
    let any: Box<dyn Any> = state;
    match any.downcast() {
        Ok(state) => *state,
        Err(_) => other_state(S::NAME),
    }
}

/// A value of a run is of another state than that of the flow, which the typed interface rules out.
#[cold]
#[track_caller]
pub(super) fn other_state(name: &str) -> ! {
    unreachable!("a value of another state than `{name}` is in a run over it")
}
