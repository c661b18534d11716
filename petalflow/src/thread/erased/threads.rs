//! A flow with a store, without the types of the flow.

use std::sync::Arc;

use crate::checkpoint::{Durability, OnBusy, Retention, Store};
use crate::event::{EventFilter, LogRole};
use crate::exec::Settings;
use crate::flow::AnyFlow;

/// See [`Threads`](crate::thread::Threads).
#[derive(Clone)]
pub(crate) struct AnyThreads {
    pub(crate) flow: Arc<dyn AnyFlow>,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) durability: Durability,
    pub(crate) on_busy: OnBusy,
    pub(crate) retention: Retention,
    /// How many events of a thread are stored at least.
    pub(crate) event_log: Option<u64>,
    /// Which events are stored.
    pub(crate) event_filter: Option<EventFilter>,
    pub(crate) log_role: LogRole,
}

impl AnyThreads {
    pub(crate) fn new(flow: Arc<dyn AnyFlow>, settings: Settings, store: Arc<dyn Store>) -> Self {
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
