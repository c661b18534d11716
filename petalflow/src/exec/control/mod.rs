//! The settings of a run, and what can stop it.

pub(super) mod abort;
pub(super) mod cached;
pub(super) mod runtime;
pub(super) mod settings;
pub(super) mod watch;
