//! Handles the requests and notifications of a server.

// Sampling, roots and logging are deprecated in the protocol, but servers still use them.
#![allow(deprecated)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, Implementation, JsonRpcMessage,
    ListRootsResult, ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, RxJsonRpcMessage};
use rmcp::{ClientHandler, ErrorData};
use tokio::sync::mpsc;

use super::changes::ServerChange;
use super::elicitation::RequestHandlers;
use super::logs;

/// The most progress notifications that wait for one call. Further ones are dropped.
const MAX_PENDING_PROGRESS: usize = 64;

/// The handler for requests and notifications from a server.
#[derive(Clone)]
pub(super) struct MessageHandler(Arc<Inner>);

struct Inner {
    /// The name of the server, for elicitation requests.
    server: String,
    request_handlers: RequestHandlers,
    /// Whether the tool list may have changed since it was read.
    list_changed: AtomicBool,
    calls: Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>,
}

impl MessageHandler {
    pub(super) fn new(server: String, request_handlers: RequestHandlers) -> Self {
        MessageHandler(Arc::new(Inner {
            server,
            request_handlers,
            list_changed: AtomicBool::new(false),
            calls: Mutex::default(),
        }))
    }

    fn calls(
        &self,
    ) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>> {
        // A panic cannot leave the map in an inconsistent state.
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to receive the progress notifications of a call.
    pub(super) fn progress_of(&self, token: ProgressToken) -> ProgressReceiver {
        let (sender, notifications) = mpsc::channel(MAX_PENDING_PROGRESS);
        self.calls().insert(token.clone(), sender);
        ProgressReceiver {
            notifications,
            handler: self.clone(),
            token,
        }
    }

    /// Whether the tool list may have changed since the last call of this method.
    pub(super) fn take_list_changed(&self) -> bool {
        self.0.list_changed.swap(false, Ordering::Relaxed)
    }

    /// Takes a message if it is a log message. Returns whether it is one.
    pub(super) fn take_log(&self, message: &[u8]) -> bool {
        let Some(message) = logs::read(message) else {
            return false;
        };
        if let Some(logs) = &self.0.request_handlers.logs {
            logs.take(&self.0.server, message);
        }
        true
    }

    /// Reads a message before the library, which handles each notification in a task of its own, possibly after the result.
    /// Returns it if the library needs it. Log messages are taken in their order: here those that `take_log` does not know.
    pub(super) fn first(
        &self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        let JsonRpcMessage::Notification(notification) = message else {
            return Some(message);
        };
        if let Some(handler) = &self.0.request_handlers.changes
            && let Some(change) = ServerChange::of(&notification.notification)
        {
            // Before the program is told, so that it lists the tools again.
            if change == ServerChange::Tools {
                self.0.list_changed.store(true, Ordering::Relaxed);
            }
            handler.take(change);
        }
        match notification.notification {
            ServerNotification::LoggingMessageNotification(log) => {
                if let Some(logs) = &self.0.request_handlers.logs {
                    logs.take(&self.0.server, log.params);
                }
                None
            }
            ServerNotification::ProgressNotification(ref progress) => {
                if let Some(call) = self.calls().get(&progress.params.progress_token) {
                    // If the queue of a call is full, the notification is lost. The result is not affected.
                    let _ = call.try_send(progress.params.clone());
                }
                Some(JsonRpcMessage::Notification(notification))
            }
            _ => Some(JsonRpcMessage::Notification(notification)),
        }
    }
}

impl ClientHandler for MessageHandler {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.store(true, Ordering::Relaxed);
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.0
            .request_handlers
            .elicit(&self.0.server, question)
            .await
    }

    async fn create_message(
        &self,
        params: rmcp::model::CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        self.0.request_handlers.sample(params).await
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        self.0.request_handlers.list_roots()
    }

    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("petalflow", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(self.0.request_handlers.capabilities(), program)
    }
}

/// The progress notifications of one call. Dropping it unregisters the call.
pub(super) struct ProgressReceiver {
    pub(super) notifications: mpsc::Receiver<ProgressNotificationParam>,
    handler: MessageHandler,
    token: ProgressToken,
}

impl Drop for ProgressReceiver {
    fn drop(&mut self) {
        self.handler.calls().remove(&self.token);
    }
}
