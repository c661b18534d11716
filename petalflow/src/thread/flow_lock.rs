//! Compares a flow with its `flow.lock`.

pub use crate::upgrade::FlowLock;

use crate::durable::Fingerprint;
use crate::flow::{Flow, HasFlow};
use crate::state::{Durable, State};
use crate::upgrade::{Locked, check_lock};

/// A flow differs from its [`FlowLock`]. The text shows what differs, and what to do.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FlowLockError(String);

crate::error::debug_is_message!(FlowLockError);

impl FlowLock {
    /// Checks that stored threads of a flow can resume in this program.
    ///
    /// # Errors
    ///
    /// The flow differs from the lock: threads may be unable to resume, or the lock has to be [recorded](Self::record) again.
    pub fn check<S>(&self, flow: &impl HasFlow<Flow: Flow<State = S>>) -> Result<(), FlowLockError>
    where
        S: State<Storage = Durable>,
    {
        let (name, locked) = locked(flow.flow());
        check_lock(&name, self.get(&name), &locked).map_err(FlowLockError)
    }

    /// Adds a flow, or replaces its record.
    pub fn record<S>(&mut self, flow: &impl HasFlow<Flow: Flow<State = S>>)
    where
        S: State<Storage = Durable>,
    {
        let (name, locked) = locked(flow.flow());
        self.set(&name, locked);
    }
}

fn locked<F: Flow>(flow: &F) -> (String, Locked) {
    let program = Fingerprint::of::<F::State>(flow.stored_name(), &flow.plan());
    let locked = Locked {
        state: F::State::NAME.into(),
        version: program.version,
        outline: program.outline,
    };
    (program.flow.to_string(), locked)
}
