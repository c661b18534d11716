//! The search attributes of a thread: what the store has of them, and what changes with the next checkpoint.

use std::collections::BTreeMap;

use crate::checkpoint::{Attribute, StoreChange};
use crate::erased::StateType;
use crate::exec::Committed;

/// The search attributes of a thread. Of a flow without indexed keys, and of a sub-flow, it does nothing.
pub(in crate::durable) struct ThreadAttributes {
    /// Those in the store. `None` if they are not known: then the next checkpoint writes all of them.
    stored: Option<BTreeMap<String, Attribute>>,
    /// Those that are written with the next checkpoint, if they are others.
    next: Option<BTreeMap<String, Attribute>>,
}

impl ThreadAttributes {
    /// Those of a thread that has checkpoints, or has none.
    pub(in crate::durable) fn new(has_checkpoints: bool) -> Self {
        ThreadAttributes {
            stored: (!has_checkpoints).then(BTreeMap::new),
            next: None,
        }
    }

    /// The next checkpoint has this state.
    pub(in crate::durable) fn set(&mut self, ty: &StateType, committed: Committed<'_>) {
        if ty.indexed.is_empty() {
            return;
        }
        let attributes = (ty.attributes)(committed.state, committed.written);
        self.next = (self.stored.as_ref() != Some(&attributes)).then_some(attributes);
    }

    /// Whether they change with the next checkpoint.
    pub(in crate::durable) fn has_change(&self) -> bool {
        self.next.is_some()
    }

    /// What is changed together with the next checkpoint.
    pub(in crate::durable) fn change(&self) -> Option<StoreChange> {
        self.next.clone().map(StoreChange::Attributes)
    }

    /// The checkpoint is in the store, or is being written.
    pub(in crate::durable) fn mark_appended(&mut self) {
        if let Some(next) = self.next.take() {
            self.stored = Some(next);
        }
    }
}
