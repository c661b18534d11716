//! What a checkpoint consists of: numbers, changed keys, tasks, and the fingerprint of the flow.

pub(super) mod attributes;
pub(super) mod dirty_keys;
pub(super) mod fingerprint;
pub(super) mod seq;
pub(super) mod task_entries;
