//! The calls of a session that its client can cancel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProtocolVersion, RequestId};
use rmcp::service::{RequestContext, RoleServer};
use tokio_util::sync::CancellationToken;

/// The calls of a session, by the ids of their requests.
///
/// The token of a request is cancelled also when its session ends, for example because no message came for long. The run goes on
/// then: only what the client says stops it.
#[derive(Clone, Default)]
pub(super) struct Calls(Arc<Mutex<HashMap<RequestId, CancellationToken>>>);

/// A call that is in progress.
pub(super) struct Call {
    /// Cancelled when the client cancels the call.
    pub(super) cancelled: CancellationToken,
    calls: Calls,
    id: RequestId,
}

impl Calls {
    /// A call that begins.
    pub(super) fn begin(&self, cx: &RequestContext<RoleServer>) -> Call {
        let cancelled = if has_sessions(cx) {
            CancellationToken::new()
        } else {
            // Without sessions, a client cancels a call when it closes the response.
            cx.ct.clone()
        };
        self.lock().insert(cx.id.clone(), cancelled.clone());
        Call {
            cancelled,
            calls: self.clone(),
            id: cx.id.clone(),
        }
    }

    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(call) = self.lock().get(id) {
            call.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, CancellationToken>> {
        // No code that can panic runs while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.id);
    }
}

/// Whether the version of the protocol has sessions, in which a server sends requests to its client.
pub(super) fn has_sessions(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version()
        .is_none_or(|version| version < ProtocolVersion::NO_INITIALIZE)
}
