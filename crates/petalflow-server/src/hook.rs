//! A trigger of a graph, and the threads that it starts.

use std::sync::Arc;

use petalflow_documents::kinds::WebhookTriggerNode;

use crate::served::HookThreads;

/// A trigger of a graph.
pub(crate) struct Hook {
    pub(crate) workflow: String,
    pub(crate) trigger: String,
    pub(crate) node: WebhookTriggerNode,
    pub(crate) threads: Arc<dyn HookThreads>,
}

/// The part of a thread's id before this is the graph, and the part up to the next one is the trigger.
const SEPARATOR: char = ':';

impl Hook {
    /// What the ids of all threads of this trigger begin with.
    pub(crate) fn prefix(&self) -> String {
        format!("{}{SEPARATOR}{}{SEPARATOR}", self.workflow, self.trigger)
    }

    /// The address of the trigger.
    pub(crate) fn path(&self) -> String {
        format!("/workflows/{}/webhooks/{}", self.workflow, self.trigger)
    }

    /// Whether this trigger has started the thread.
    pub(crate) fn owns(&self, thread: &str) -> bool {
        let id = thread.strip_prefix(&*self.prefix());
        id.is_some_and(|id| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit()))
    }
}
