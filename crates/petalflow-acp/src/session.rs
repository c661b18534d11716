//! A session: a thread, and the agent that works on it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::SessionId;
use petalflow::run::CancelToken;
use petalflow::thread::Threads;
use petalflow_agent::AgentFlow;
use petalflow_agent::deep::Workspace;

use crate::error::conflict;

/// An open session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    /// The folder that is open in the editor.
    pub(crate) folder: PathBuf,
    pub(crate) threads: Threads<AgentFlow>,
    pub(crate) files: Option<Workspace>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Cancels the turn that runs.
    running: Option<CancelToken>,
    /// Whether the person has cancelled what the session waits for. The next prompt gives it up.
    has_abandoned: bool,
}

/// The only turn of a session.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) session: Arc<Session>,
    pub(crate) token: CancelToken,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        folder: PathBuf,
        threads: Threads<AgentFlow>,
        files: Option<Workspace>,
    ) -> Self {
        Session {
            id,
            folder,
            threads,
            files,
            state: Mutex::default(),
        }
    }

    /// Begins a turn. An error if one runs.
    pub(crate) fn begin(self: &Arc<Self>) -> Result<Running, Error> {
        let mut state = self.state();
        if state.running.is_some() {
            return Err(conflict(
                "the session works on a prompt: wait for its end, or cancel it with `session/cancel`",
            ));
        }
        let token = CancelToken::new();
        state.running = Some(token.clone());
        drop(state);
        let session = Arc::clone(self);
        Ok(Running { session, token })
    }

    /// Cancels the turn that runs. If none runs, the next prompt gives up what the session waits for.
    pub(crate) fn cancel(&self) {
        let mut state = self.state();
        match &state.running {
            Some(token) => token.cancel(),
            None => state.has_abandoned = true,
        }
    }

    /// The next prompt gives up what the session waits for: calls are refused, and a question is discarded.
    pub(crate) fn abandon(&self) {
        self.state().has_abandoned = true;
    }

    /// Whether what the session waits for is given up. The next time it is not.
    pub(crate) fn take_abandoned(&self) -> bool {
        std::mem::take(&mut self.state().has_abandoned)
    }

    /// The folder in which the agent changes files.
    pub(crate) fn folder_of_files(&self) -> Option<PathBuf> {
        let folder = self.files.as_ref()?.folder_path()?;
        std::path::absolute(folder).ok()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.session.state().running = None;
    }
}
