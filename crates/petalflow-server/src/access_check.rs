//! Checks which threads the caller of a request may see.

use std::sync::Arc;

use axum::extract::{RawPathParams, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::access::{self, Access};
use crate::refusal::Refusal;
use crate::served::no_thread;
use crate::server::Inner;

/// Refuses a request for a thread that the caller may not see, as if there were no such thread.
pub(crate) async fn check(
    State(server): State<Arc<Inner>>,
    params: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    let request = match decide(&server, request) {
        Ok(request) => request,
        Err(refusal) => return refusal.into_response(),
    };
    match is_allowed(&server, &access::of(&request), &params).await {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// The request with the access of its caller, for [`access::of`]. Fails if the caller may see no thread.
pub(crate) fn decide(server: &Inner, request: Request) -> Result<Request, Refusal> {
    let Some(hook) = &server.settings.access else {
        return Ok(request);
    };
    let (parts, body) = request.into_parts();
    let access = hook(&parts);
    if access == Access::None {
        let text = "you may not see threads";
        return Err(Refusal::forbidden(text));
    }
    let mut request = Request::from_parts(parts, body);
    request.extensions_mut().insert(access);
    Ok(request)
}

async fn is_allowed(
    server: &Inner,
    access: &Access,
    params: &RawPathParams,
) -> Result<(), Refusal> {
    let mut params = params.iter();
    match params.find(|(name, _)| *name == "thread") {
        Some((_, thread)) => server.visible(access, thread).await,
        None => Ok(()),
    }
}

impl Inner {
    /// Fails if the caller may not see the thread, or if there is none.
    pub(crate) async fn visible(&self, access: &Access, thread: &str) -> Result<(), Refusal> {
        if *access == Access::All {
            return Ok(());
        }
        let info = self.info(thread).await?;
        let is_visible = info.is_some_and(|info| access.allows(&info.labels));
        is_visible.then_some(()).ok_or_else(no_thread)
    }
}
