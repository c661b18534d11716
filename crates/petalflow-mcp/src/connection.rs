//! One connection to a server, as long as it lasts.

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

/// How many reports of progress may wait for a call; more are dropped.
const REPORTS: usize = 64;

/// How long a program may take to end by itself once it is no longer spoken to.
const GRACE: Duration = Duration::from_secs(3);

/// What a server says of its own accord.
#[derive(Clone)]
pub(super) struct Ear(Arc<Heard>);

struct Heard {
    /// The name of the server, for the questions that it asks.
    server: String,
    answers: Answers,
    /// Whether the tools may be others than those that were listed.
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
        // A panic cannot leave the map half-changed.
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears a message before the library does, which hands reports on in tasks of their own: by then the result may be there.
    pub(super) fn hear(&self, message: &RxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Notification(message) = message else {
            return;
        };
        let ServerNotification::ProgressNotification(report) = &message.notification else {
            return;
        };
        if let Some(call) = self.calls().get(&report.params.progress_token) {
            // A call that does not listen loses reports, not its result.
            let _ = call.try_send(report.params.clone());
        }
    }
}

// The protocol means to give up sampling; servers that sample are still there.
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

/// What a server offers. No tools, which would keep the connection that keeps them.
pub(super) type Listed = Arc<[Offer]>;

/// A tool of a server: the server's name of it, and what models are told.
pub(super) struct Offer {
    pub(super) name: Arc<str>,
    pub(super) spec: Arc<ToolSpec>,
}

/// The reports of progress of one call, until it is dropped.
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

    /// Whether there is any use in asking.
    pub(super) fn is_open(&self) -> bool {
        !self.broken.load(Ordering::Relaxed)
            && !self.service.is_closed()
            && !self.peer().is_transport_closed()
    }

    /// Says that the next call needs another connection.
    pub(super) fn give_up(&self) {
        self.broken.store(true, Ordering::Relaxed);
    }

    /// How the connection was lost.
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

    /// What was listed, if it is still what the server has.
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

    /// Ends the connection: the program is no longer spoken to, has some time to end, and is killed then.
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
