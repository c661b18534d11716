//! Who calls a tool, and the thread that the call waits for.

use std::sync::Arc;

use rmcp::model::InputResponses;
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::served::ServedThreads;
use crate::server::Inner;

/// Who calls a tool, and with which request.
pub(super) struct Caller {
    pub(super) server: Arc<Inner>,
    pub(super) access: Access,
    /// Cancelled when the client cancels the call.
    pub(super) cancelled: CancellationToken,
    /// Answers to the questions of an earlier result of the call.
    pub(super) responses: InputResponses,
    /// What the earlier result told the client to send back: the id of the thread.
    pub(super) state: Option<String>,
    pub(super) cx: RequestContext<RoleServer>,
}

/// A thread that a call waits for.
pub(super) struct Waited {
    pub(super) flow: Arc<dyn ServedThreads>,
    pub(super) thread: String,
    /// The number of the last event before the run.
    pub(super) after: u64,
}
