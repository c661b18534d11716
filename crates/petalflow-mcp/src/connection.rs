//! One connection to a server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    ClientConfig, ElicitRequestParams, ElicitResult, Implementation, JsonRpcMessage,
    ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::{
    NotificationContext, Peer, RequestContext, RoleClient, RunningService, RxJsonRpcMessage,
};
use rmcp::{ClientHandler, ErrorData};
use tokio::process::Child;
use tokio::sync::mpsc;

use super::connect::Connected;
use super::elicitation::Answers;
use petalflow::tool::ToolSpec;

/// The most progress notifications that wait for one call. Further ones are dropped.
const REPORTS: usize = 64;

/// How long a child process may take to exit after its connection is closed.
const GRACE: Duration = Duration::from_secs(3);

/// The handler for requests and notifications from a server.
#[derive(Clone)]
pub(super) struct Ear(Arc<Heard>);

struct Heard {
    /// The name of the server, for elicitation requests.
    server: String,
    answers: Answers,
    /// Whether the tool list may have changed since it was read.
    changed: AtomicBool,
    calls: Mutex<HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>>,
}

impl Ear {
    pub(super) fn new(server: String, answers: Answers) -> Self {
        Ear(Arc::new(Heard {
            server,
            answers,
            changed: AtomicBool::new(false),
            calls: Mutex::default(),
        }))
    }

    fn calls(
        &self,
    ) -> MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>> {
        // A panic cannot leave the map in an inconsistent state.
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a message before the library, which handles notifications in separate tasks, possibly after the result.
    pub(super) fn hear(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(message) = message else {
            return;
        };
        let ServerNotification::ProgressNotification(report) = &message.notification else {
            return;
        };
        if let Some(call) = self.calls().get(&report.params.progress_token) {
            // If the queue of a call is full, the notification is lost. The result is not affected.
            let _ = call.try_send(report.params.clone());
        }
    }
}

// Sampling is deprecated in the protocol, but servers still use it.
#[allow(deprecated)]
impl ClientHandler for Ear {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.store(true, Ordering::Relaxed);
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.0.answers.elicit(&self.0.server, question).await
    }

    async fn create_message(
        &self,
        params: rmcp::model::CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::CreateMessageResult, ErrorData> {
        self.0.answers.sample(params).await
    }

    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("petalflow", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(self.0.answers.capabilities(), program)
    }
}

/// One connection to a server.
pub(super) struct Live {
    service: RunningService<RoleClient, Ear>,
    ear: Ear,
    child: Mutex<Option<Child>>,
    exceeded: Arc<AtomicBool>,
    broken: AtomicBool,
    listed: Mutex<Option<Listed>>,
}

/// The tool list of a server. It holds no tools: a tool holds the client, which holds this connection.
pub(super) type Listed = Arc<[Offer]>;

/// A tool in the tool list: the server's name of it, and its spec for models.
pub(super) struct Offer {
    pub(super) name: Arc<str>,
    pub(super) spec: Arc<ToolSpec>,
}

/// The progress notifications of one call. Dropping it unregisters the call.
pub(super) struct Reports {
    pub(super) heard: mpsc::Receiver<ProgressNotificationParam>,
    ear: Ear,
    token: ProgressToken,
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.ear.calls().remove(&self.token);
    }
}

impl Live {
    pub(super) fn new(connected: Connected, ear: Ear) -> Self {
        Live {
            service: connected.service,
            ear,
            child: Mutex::new(connected.child),
            exceeded: connected.exceeded,
            broken: AtomicBool::new(false),
            listed: Mutex::new(None),
        }
    }

    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// Whether the connection can take requests.
    pub(super) fn is_open(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
            && !self.service.is_closed()
            && !self.peer().is_transport_closed()
    }

    /// Marks the connection as unusable. The next call connects again.
    pub(super) fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// Describes how the connection was lost.
    pub(super) fn problem(&self) -> String {
        if self.exceeded.load(Ordering::Relaxed) {
            return "a message is longer than `message_limit`".into();
        }
        "the server has hung up".into()
    }

    pub(super) fn listen(&self, token: ProgressToken) -> Reports {
        let (sender, heard) = mpsc::channel(REPORTS);
        self.ear.calls().insert(token.clone(), sender);
        Reports {
            heard,
            ear: self.ear.clone(),
            token,
        }
    }

    /// Returns the cached tool list, if it is current.
    pub(super) fn listed(&self) -> Option<Listed> {
        if self.ear.0.changed.swap(false, Ordering::Relaxed) {
            *self.slot() = None;
        }
        self.slot().clone()
    }

    pub(super) fn keep(&self, listed: &Listed) {
        *self.slot() = Some(Arc::clone(listed));
    }

    fn slot(&self) -> MutexGuard<'_, Option<Listed>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the connection. A child process gets some time to exit, and is then killed.
    pub(super) async fn close(&self) {
        self.give_up();
        self.service.cancellation_token().cancel();
        let child = self
            .child
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut child) = child
            && tokio::time::timeout(GRACE, child.wait()).await.is_err()
        {
            let _ = child.kill().await;
        }
    }
}
