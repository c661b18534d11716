//! A flow with a store, without the types of the flow.

use std::sync::Arc;

use crate::checkpoint::{Durability, OnBusy, Retention, Store};
use crate::event::{EventFilter, LogRole};
use crate::exec::Settings;
use crate::flow::AnyFlow;

/// See [`Threads`](crate::thread::Threads).
#[derive(Clone)]
pub(in crate::thread) struct AnyThreads {
    pub(in crate::thread) flow: Arc<dyn AnyFlow>,
    pub(in crate::thread) settings: Settings,
    pub(in crate::thread) store: Arc<dyn Store>,
    pub(in crate::thread) durability: Durability,
    pub(in crate::thread) on_busy: OnBusy,
    pub(in crate::thread) retention: Retention,
    /// How many events of a thread are stored at least.
    pub(in crate::thread) event_log: Option<u64>,
    /// Which events are stored.
    pub(in crate::thread) event_filter: Option<EventFilter>,
    pub(in crate::thread) log_role: LogRole,
}

impl AnyThreads {
    pub(in crate::thread) fn new(
        flow: Arc<dyn AnyFlow>,
        settings: Settings,
        store: Arc<dyn Store>,
    ) -> Self {
        AnyThreads {
            flow,
            settings,
            store,
            durability: Durability::default(),
            on_busy: OnBusy::default(),
            retention: Retention::ALL,
            event_log: None,
            event_filter: None,
            log_role: LogRole::default(),
        }
    }

    /// The threads, each of which is refused if it is busy.
    pub(super) fn refusing_busy(&self) -> Self {
        AnyThreads {
            on_busy: OnBusy::Refuse,
            ..self.clone()
        }
    }
}

impl std::fmt::Debug for AnyThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads")
            .field("flow", &self.flow.name())
            .field("durability", &self.durability)
            .field("on_busy", &self.on_busy)
            .field("retention", &self.retention)
            .finish_non_exhaustive()
    }
}
