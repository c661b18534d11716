//! Handles the requests of clients.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use serde_json::Value;

use super::caller::Caller;
use super::calls::Calls;
use super::{answer_tool, outcome, tools};
use crate::access::Access;
use crate::server::Inner;
use crate::settings::ANSWER_TOOL;

/// What models read about the tools as a whole.
const INSTRUCTIONS: &str = "Each tool starts a durable thread, and returns its result. If the status of the result is `waiting`, a \
                            person must answer: call `answer` with the id of the thread, the id of what it waits for, and an answer \
                            that fits its schema.";

/// The handler of a session.
#[derive(Clone)]
pub(super) struct Handler {
    server: Arc<Inner>,
    calls: Calls,
}

impl Handler {
    pub(super) fn new(server: Arc<Inner>) -> Self {
        Handler {
            server,
            calls: Calls::default(),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let program = Implementation::new("petalflow", env!("CARGO_PKG_VERSION"));
        let mut config = ServerConfig::new(capabilities).with_server_info(program);
        config.instructions = Some(INSTRUCTIONS.into());
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools::all(&self.server);
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = self.calls.begin(&cx);
        let caller = Caller {
            server: Arc::clone(&self.server),
            access: access(&cx)?,
            cancelled: call.cancelled.clone(),
            responses: request.input_responses.unwrap_or_default(),
            state: request.request_state,
            cx,
        };
        let arguments = request.arguments.unwrap_or_default();
        let result = if request.name == ANSWER_TOOL {
            answer_tool::call(&caller, Value::Object(arguments)).await
        } else {
            let flow = tools::flow(&self.server, &request.name)?;
            caller.call(flow, arguments).await
        };
        Ok(result.unwrap_or_else(|refusal| outcome::failed(refusal.text()).into()))
    }

    async fn on_cancelled(
        &self,
        cancelled: CancelledNotificationParam,
        _: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = &cancelled.request_id {
            self.calls.cancel(id);
        }
    }
}

/// The access of the caller, as the check of its HTTP request has found it.
fn access(cx: &RequestContext<RoleServer>) -> Result<Access, ErrorData> {
    let Some(parts) = cx.extensions.get::<Parts>() else {
        let text = "the HTTP request of the call is not known";
        return Err(ErrorData::internal_error(text, None));
    };
    Ok(parts.extensions.get().cloned().unwrap_or(Access::All))
}
