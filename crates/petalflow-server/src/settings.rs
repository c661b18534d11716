//! The checked settings of a server.

use std::sync::Arc;

use axum::Router;
use petalflow::checkpoint::Store;
use petalflow::run::CancelToken;
use petalflow::thread::StoredThreads;
use petalflow_documents::kinds::TriggerAuth;

use crate::access::AccessHook;
use crate::bulk::Bulk;
use crate::hook::Hook;
use crate::idempotency::Keys;
#[cfg(feature = "memory")]
use crate::memory::ServedMemory;
use crate::message_queue::Queue;
#[cfg(feature = "metrics")]
use crate::metrics::ModelMetrics;
use crate::notify::Notifications;
use crate::retention::Rules;
#[cfg(feature = "schedules")]
use crate::schedule::Schedules;
use crate::served::ServedThreads;
use crate::{Limits, Notice};

pub(crate) type Listener = Arc<dyn Fn(Notice<'_>) + Send + Sync>;

/// The settings of a server, checked.
pub(crate) struct Settings {
    pub(crate) hooks: Vec<Hook>,
    /// The flows that clients start, each with another name.
    pub(crate) flows: Vec<Arc<dyn ServedThreads>>,
    /// The threads that give commands to others.
    pub(crate) bulk: Bulk,
    #[cfg(feature = "schedules")]
    pub(crate) schedules: Schedules,
    /// The threads of other programs, if they are shown.
    pub(crate) stored: Option<StoredThreads>,
    pub(crate) store: Arc<dyn Store>,
    /// The name of its type.
    pub(crate) store_type: &'static str,
    /// The messages that wait for the end of a turn.
    pub(crate) queue: Queue,
    /// Which finished threads are kept.
    pub(crate) retention: Rules,
    #[cfg(feature = "memory")]
    pub(crate) memory: Option<ServedMemory>,
    /// The numbers of the models that the program measures.
    #[cfg(feature = "metrics")]
    pub(crate) models: ModelMetrics,
    /// What other systems are told. `None`: nothing, and nothing is stored for it.
    pub(crate) notifications: Option<Notifications>,
    pub(crate) stop: CancelToken,
    /// The authentication of requests for threads. With `None` the server has no such addresses.
    pub(crate) threads: Option<TriggerAuth>,
    /// Says which threads a caller may see. `None`: all.
    pub(crate) access: Option<AccessHook>,
    pub(crate) limits: Limits,
    pub(crate) key_header: String,
    /// The keys of the requests with this header.
    pub(crate) keys: Keys,
    /// The hosts at which the server is reached. Empty: any.
    pub(crate) hosts: Vec<String>,
    /// Routes of the program.
    pub(crate) routes: Router,
    pub(crate) listener: Option<Listener>,
    #[cfg(any(
        feature = "a2a",
        feature = "ag-ui",
        feature = "mcp",
        feature = "openai"
    ))]
    pub(crate) protocols: Protocols,
}

/// The protocols by which agents are served, in addition to the server's own addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Protocols {
    #[cfg(feature = "a2a")]
    pub(crate) a2a: Option<crate::a2a::A2a>,
    #[cfg(feature = "ag-ui")]
    pub(crate) ag_ui: bool,
    #[cfg(feature = "mcp")]
    pub(crate) mcp: bool,
    #[cfg(feature = "openai")]
    pub(crate) openai: bool,
}

/// The tool of MCP that answers questions.
#[cfg(feature = "mcp")]
pub(crate) const ANSWER_TOOL: &str = "answer";

impl Protocols {
    /// The mistake that a flow has the name of a tool of the server.
    #[cfg(feature = "mcp")]
    pub(crate) fn taken<'a>(
        &self,
        mut flows: impl Iterator<Item = &'a String>,
    ) -> Option<crate::SetupError> {
        let name = ANSWER_TOOL.to_string();
        let is_taken = self.mcp && flows.any(|flow| *flow == name);
        is_taken.then_some(crate::SetupError::ToolName { name })
    }

    /// The name of a protocol that is served.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let Protocols {
            #[cfg(feature = "a2a")]
            a2a,
            #[cfg(feature = "ag-ui")]
            ag_ui,
            #[cfg(feature = "mcp")]
            mcp,
            #[cfg(feature = "openai")]
            openai,
        } = self;
        let served: &[(bool, &str)] = &[
            #[cfg(feature = "a2a")]
            (a2a.is_some(), "A2A"),
            #[cfg(feature = "ag-ui")]
            (*ag_ui, "AG-UI"),
            #[cfg(feature = "mcp")]
            (*mcp, "MCP"),
            #[cfg(feature = "openai")]
            (*openai, "OpenAI's interface"),
        ];
        let mut served = served.iter();
        let (_, name) = served.find(|(is_served, _)| *is_served)?;
        Some(name)
    }
}
