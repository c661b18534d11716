//! The states that sub-flows with `keep: thread` retain from one call to the next, in a run that is not stored.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AnyCodec, AnyState, CopyState, StateBox};
use crate::error::BoxError;
use crate::ids::{Namespace, TaskId};
use crate::state::{KeySet, Values};

/// The states, by the namespace of the sub-flow. As in a store, each is that at the end of a call: a call that fails leaves
/// nothing.
#[derive(Default)]
pub(crate) struct KeptStates(Mutex<HashMap<Namespace, Kept>>);

/// The state of one sub-flow.
struct Kept {
    /// The task of the last call.
    by: TaskId,
    end: SavedState,
    /// The state before that call, with which another attempt of its task begins.
    before: Option<SavedState>,
}

struct SavedState {
    values: SavedValues,
    /// The keys that have a value.
    written: KeySet,
}

enum SavedValues {
    /// By key, as in a store.
    Encoded(AnyCodec, Vec<Option<Vec<u8>>>),
    /// Of a state that cannot be stored.
    Copied(StateBox, CopyState),
}

impl KeptStates {
    /// The state with which a call of this task begins, and its keys that have a value. `None` if it is the first call.
    pub(crate) fn before(
        &self,
        namespace: &Namespace,
        by: TaskId,
    ) -> Result<Option<(StateBox, KeySet)>, BoxError> {
        let kept = self.lock();
        let saved = match kept.get(namespace) {
            Some(kept) if kept.by == by => kept.before.as_ref(),
            kept => kept.map(|kept| &kept.end),
        };
        saved.map(SavedState::load).transpose()
    }

    /// A call has ended with this state.
    pub(crate) fn end(
        &self,
        namespace: &Namespace,
        by: TaskId,
        state: &dyn AnyState,
        written: KeySet,
    ) -> Result<(), BoxError> {
        let end = SavedState::of(namespace, state, written)?;
        let mut kept = self.lock();
        let before = match kept.remove(namespace) {
            Some(kept) if kept.by == by => kept.before,
            kept => kept.map(|kept| kept.end),
        };
        kept.insert(namespace.clone(), Kept { by, end, before });
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Namespace, Kept>> {
        // Nothing under this lock leaves it half-changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SavedState {
    fn of(namespace: &Namespace, state: &dyn AnyState, written: KeySet) -> Result<Self, BoxError> {
        let ty = state.ty();
        if let Some(codec) = (ty.codec)() {
            let mut values = vec![None; ty.keys.len()];
            let written = written.minus(ty.untracked);
            for key in written.iter() {
                let mut bytes = Vec::new();
                (codec.save)(state, key, &mut bytes)?;
                values[key] = Some(bytes);
            }
            let values = SavedValues::Encoded(codec, values);
            return Ok(SavedState { values, written });
        }
        let Some(copy) = (ty.copier)() else {
            return Err(format!(
                "the sub-flow `{namespace}` keeps its state, and a `{}` cannot be copied for the next call: derive `Clone` for it, or write `#[state]` for `#[state(volatile)]`",
                ty.name
            )
            .into());
        };
        let values = SavedValues::Copied(copy(state), copy);
        Ok(SavedState { values, written })
    }

    fn load(&self) -> Result<(StateBox, KeySet), BoxError> {
        let state = match &self.values {
            SavedValues::Encoded(codec, saved) => {
                let mut values = Values::new(saved.len());
                for (key, bytes) in saved.iter().enumerate() {
                    if let Some(bytes) = bytes {
                        values.set(key, bytes);
                    }
                }
                (codec.load)(&values)?
            }
            SavedValues::Copied(state, copy) => copy(&**state),
        };
        Ok((state, self.written))
    }
}
