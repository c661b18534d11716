//! A state, the effects of a node over it, and its encoding, without their types. They are in one file, because each names the
//! others.

use std::any::Any;
use std::collections::BTreeMap;

use crate::checkpoint::{Attribute, AttributeKind};
use crate::delivery::Delivery;
use crate::effects::{Choice, Effects, RouteChoice};
use crate::migration::Migrate;
use crate::state::{
    KeyFlag, KeyMeta, KeySet, State, StateCodec, Update, Values, WriteError, indexed,
};
use petalflow_graph::RouteIdx;
use petalflow_store::codec::{CodecError, FieldOutline};

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
    /// The keys that take messages.
    pub(crate) inbox: KeySet,
    /// The keys whose messages nodes receive.
    pub(crate) receive: KeySet,
    /// The keys whose values are search attributes.
    pub(crate) indexed: KeySet,
    /// The search attributes of a state of which these keys have a value.
    pub(crate) attributes: fn(&dyn AnyState, KeySet) -> BTreeMap<String, Attribute>,
    /// The names and types of the search attributes.
    pub(crate) attribute_kinds: fn() -> Vec<(&'static str, AttributeKind)>,
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
        inbox: KeyMeta::set(S::KEYS, KeyFlag::Inbox),
        receive: KeyMeta::set(S::KEYS, KeyFlag::Receive),
        indexed: KeyMeta::set(S::KEYS, KeyFlag::Indexed),
        attributes: |state, written| indexed::attributes(state_ref::<S>(state), written),
        attribute_kinds: indexed::attribute_kinds::<S>,
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
    pub(crate) fn keys_with_noted_loss(&self) -> KeySet {
        self.lossy.minus(self.ephemeral)
    }

    /// The keys whose values end before the next writes are applied.
    pub(crate) fn expiring(&self, written: KeySet) -> KeySet {
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
fn other_state(name: &str) -> ! {
    unreachable!("a value of another state than `{name}` is in a run over it")
}

/// The effects of one run of a node over a state of any type. A box is also the form of writes alone, such as those of an
/// answer.
pub(crate) type EffectsBox = Box<dyn AnyEffects>;

/// The effects of one run of a node. Every [`Effects`] is one.
pub(crate) trait AnyEffects: Any + Send + Sync {
    /// What the type of the state says.
    fn ty(&self) -> &'static StateType;

    /// The keys that were written.
    fn written(&self) -> KeySet;

    /// The keys that were written with [`Overwrite`](crate::Overwrite).
    fn overwritten(&self) -> KeySet;

    /// Removes all writes, and keeps the memory.
    fn clear_writes(&mut self);

    /// The writes, in a box of their own.
    fn clone_writes(&self) -> EffectsBox;

    /// Takes the writes into a box of their own.
    fn take_writes(&mut self) -> EffectsBox;

    /// What the node has decided and sent.
    fn choice(&self) -> &Choice;

    /// The same, to be changed.
    fn choice_mut(&mut self) -> &mut Choice;
}

impl<S: State> AnyEffects for Effects<S> {
    fn ty(&self) -> &'static StateType {
        StateType::of::<S>()
    }

    fn written(&self) -> KeySet {
        self.update.written()
    }

    fn overwritten(&self) -> KeySet {
        self.update.overwritten()
    }

    fn clear_writes(&mut self) {
        self.update.clear();
    }

    fn clone_writes(&self) -> EffectsBox {
        Box::new(Effects::<S>::of(self.update.clone()))
    }

    fn take_writes(&mut self) -> EffectsBox {
        Box::new(Effects::<S>::of(std::mem::take(&mut self.update)))
    }

    fn choice(&self) -> &Choice {
        &self.choice
    }

    fn choice_mut(&mut self) -> &mut Choice {
        &mut self.choice
    }
}

impl dyn AnyEffects {
    /// The routing decision of the node.
    pub(crate) fn chosen(&self) -> RouteChoice {
        self.choice().chosen()
    }

    /// The chosen routes, if the node chose several.
    pub(crate) fn routes(&self) -> &[RouteIdx] {
        self.choice().routes()
    }

    /// What the node sends: by route, or `None` for the targets of `each`.
    pub(crate) fn deliveries(&self) -> &[(Option<RouteIdx>, Delivery)] {
        self.choice().deliveries()
    }

    /// Removes everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.clear_writes();
        self.choice_mut().clear();
    }
}

impl std::fmt::Debug for dyn AnyEffects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Effects")
            .field("written", &self.written())
            .field("choice", self.choice())
            .finish()
    }
}

/// The effects of a node over this state.
pub(crate) fn effects_ref<S: State>(effects: &dyn AnyEffects) -> &Effects<S> {
    let any: &dyn Any = effects;
    match any.downcast_ref() {
        Some(effects) => effects,
        None => other_state(S::NAME),
    }
}

/// The same, to be changed.
pub(crate) fn effects_mut<S: State>(effects: &mut dyn AnyEffects) -> &mut Effects<S> {
    let any: &mut dyn Any = effects;
    match any.downcast_mut() {
        Some(effects) => effects,
        None => other_state(S::NAME),
    }
}

/// The writes of a box.
pub(crate) fn into_update<S: State>(effects: EffectsBox) -> Update<S> {
    let any: Box<dyn Any> = effects;
    match any.downcast::<Effects<S>>() {
        Ok(effects) => effects.update,
        Err(_) => other_state(S::NAME),
    }
}

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
