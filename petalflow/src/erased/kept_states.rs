//! The states that sub-flows with `keep: thread` retain from one call to the next, in a run that is not stored.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{AnyState, CopyState, StateBox};
use crate::error::BoxError;
use crate::ids::{Namespace, TaskId};
use crate::state::KeySet;

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
    state: StateBox,
    copy: CopyState,
    /// The keys that have a value.
    written: KeySet,
}

impl KeptStates {
    /// The state with which a call of this task begins, and its keys that have a value. `None` if it is the first call.
    pub(crate) fn before(&self, namespace: &Namespace, by: TaskId) -> Option<(StateBox, KeySet)> {
        let kept = self.lock();
        let saved = match kept.get(namespace) {
            Some(kept) if kept.by == by => kept.before.as_ref(),
            kept => kept.map(|kept| &kept.end),
        };
        saved.map(SavedState::load)
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
    /// A copy, without what a store would not have.
    fn of(namespace: &Namespace, state: &dyn AnyState, written: KeySet) -> Result<Self, BoxError> {
        let ty = state.ty();
        let Some(copy) = (ty.copier)() else {
            let problem = format!(
                "the sub-flow `{namespace}` keeps its state, and `{}` cannot be copied",
                ty.name
            );
            return Err(problem.into());
        };
        let mut saved = SavedState {
            state: copy(state),
            copy,
            written,
        };
        if (ty.codec)().is_some() {
            saved.state.reset(ty.untracked);
            saved.written = written.minus(ty.untracked);
        }
        Ok(saved)
    }

    fn load(&self) -> (StateBox, KeySet) {
        ((self.copy)(&*self.state), self.written)
    }
}
