//! The agent that a request is about, and the version of the protocol.

use std::sync::Arc;

use axum::extract::Request;

use super::error::{A2aError, ErrorKind};
use super::methods::Agent;
use crate::a2a::A2a;
use crate::access;
use crate::refusal::Refusal;
use crate::request;
use crate::served::{FlowKind, ServedThreads};
use crate::server::Inner;

/// The version of the protocol.
pub(super) const VERSION: &str = "1.0";

/// The header, and the parameter of the query, with the version that a client speaks.
const VERSION_HEADER: &str = "A2A-Version";

/// Whether a flow is served by the protocol.
pub(super) fn is_served(flow: &dyn ServedThreads) -> bool {
    matches!(flow.facts().kind, FlowKind::Agent | FlowKind::Conversation)
}

/// The settings of the protocol.
pub(super) fn settings(server: &Inner) -> Result<&A2a, Refusal> {
    let a2a = server.settings.protocols.a2a.as_ref();
    a2a.ok_or_else(|| Refusal::not_found("there is no such address"))
}

/// The served agent with this name.
pub(super) fn flow(server: &Inner, name: &str) -> Result<Arc<dyn ServedThreads>, Refusal> {
    let flow = server.flow(name).ok().filter(|it| is_served(&***it));
    let flow = flow.ok_or_else(|| Refusal::not_found(format!("there is no agent `{name}`")))?;
    Ok(Arc::clone(flow))
}

/// The agent of a request. The client must speak a version of the protocol that the server speaks; one that names none speaks
/// 0.3 (section 3.6.2 of the specification).
pub(super) fn agent(server: Arc<Inner>, name: &str, request: &Request) -> Result<Agent, A2aError> {
    let header = request.headers().get(VERSION_HEADER);
    let header = header.and_then(|it| it.to_str().ok()).map(String::from);
    let query: Vec<(String, String)> = request::query(request.uri())?;
    let mut query = query.into_iter();
    let query = query.find(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER));
    let version = header.or(query.map(|(_, version)| version));
    let version = version.filter(|it| !it.is_empty());
    let version = version.as_deref().unwrap_or("0.3");
    // Patches do not change the protocol.
    let mut numbers = version.split('.');
    if (numbers.next(), numbers.next()) != (Some("1"), Some("0")) {
        return Err(ErrorKind::VersionNotSupported.with(format!(
            "version {version} of A2A is not supported: send the header `{VERSION_HEADER}: {VERSION}`"
        )));
    }
    let flow =
        flow(&server, name).map_err(|refusal| ErrorKind::MethodNotFound.with(refusal.text()))?;
    Ok(Agent {
        server,
        flow,
        access: access::of(request),
    })
}
