//! Reads checkpoints: the newest one, and the state by replaying changes on a snapshot.

pub(super) mod checkpoint;
pub(super) mod ended_call;
pub(super) mod merged;
pub(super) mod replay;
pub(super) mod sleeps;
#[cfg(feature = "engine")]
pub(super) mod slice;
pub(super) mod untyped;
