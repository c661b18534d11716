//! The sessions: those in the store, and those that are open.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ListSessionsRequest, ListSessionsResponse, SessionId, SessionInfo,
};
use petalflow::checkpoint::{Store, ThreadInfo, ThreadOrder, ThreadQuery};
use petalflow::thread::{StoredThreads, Threads};
use petalflow_agent::AgentFlow;

use crate::called::Called;
use crate::error::{conflict, failed, no_session, of_thread, unfit};
use crate::session::Session;
use crate::settings::Settings;
use crate::setup::SessionSetup;

/// The label of a thread with the folder of its session.
const FOLDER: &str = "petalflow.acp.folder";
/// The label of a thread with the title of its session.
const TITLE: &str = "petalflow.acp.title";
/// The most bytes of the value of a label.
const MAX_LABEL: usize = 255;
/// The most characters of a title.
const MAX_TITLE: usize = 60;
/// How many sessions are listed at once.
const PAGE: usize = 50;

/// The sessions of a server.
pub(crate) struct Sessions {
    store: Arc<dyn Store>,
    settings: Settings,
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl Sessions {
    pub(crate) fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        Sessions {
            store,
            settings,
            open: Mutex::default(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Creates a session. The store has it from its first prompt on.
    pub(crate) fn create(&self, setup: &SessionSetup) -> Result<SessionId, Error> {
        let session = self.session(new_id(), setup)?;
        Ok(self.open(session).id.clone())
    }

    /// Opens a session of the store.
    pub(crate) async fn load(
        &self,
        id: &SessionId,
        setup: SessionSetup,
    ) -> Result<Arc<Session>, Error> {
        let session = self.session(id.clone(), &setup)?;
        self.check(id).await?;
        if let Some(known) = self.sessions().get(id) {
            // Its turn would be unknown to the new one.
            drop(known.begin()?);
        }
        Ok(self.open(session))
    }

    /// An error if the store has no such session. Its other threads are not those of an editor.
    async fn check(&self, id: &SessionId) -> Result<(), Error> {
        let query = ThreadQuery {
            prefix: &id.0,
            limit: Some(1),
            ..ThreadQuery::default()
        };
        let found = self.store.threads(query).await;
        let found = found.map_err(|error| failed(&error))?;
        let is_session = |info: &ThreadInfo| *info.id == *id.0 && info.labels.contains_key(FOLDER);
        if found.first().is_some_and(is_session) {
            return Ok(());
        }
        Err(no_session(format_args!(
            "there is no session `{id}`: begin one with `session/new`"
        )))
    }

    /// An open session.
    pub(crate) fn get(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        self.sessions().get(id).cloned().ok_or_else(|| {
            no_session(format_args!(
                "the session `{id}` is not open: begin one with `session/new`, or load it with `session/load`"
            ))
        })
    }

    /// Cancels what runs in a session, and forgets it. It stays in the store.
    pub(crate) fn close(&self, id: &SessionId) {
        if let Some(session) = self.sessions().remove(id) {
            session.cancel();
        }
    }

    /// Deletes a session.
    pub(crate) async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        self.check(id).await?;
        if let Some(session) = self.sessions().get(id) {
            drop(session.begin().map_err(|_| {
                conflict("the session works on a prompt: cancel it before you delete it")
            })?);
        }
        let threads = StoredThreads::new(&self.store);
        threads.delete(&id.0).await.map_err(of_thread)?;
        self.close(id);
        Ok(())
    }

    /// The runs of the agents that were called in a session.
    pub(crate) async fn called(&self, id: &SessionId) -> Result<Vec<Called>, Error> {
        let threads = StoredThreads::new(&self.store);
        let runs = threads.subflow_runs(&id.0).await.map_err(of_thread)?;
        Ok(runs.iter().filter_map(Called::of).collect())
    }

    /// The sessions in which something was said, the newest first.
    pub(crate) async fn list(
        &self,
        request: &ListSessionsRequest,
    ) -> Result<ListSessionsResponse, Error> {
        let after = request.cursor.as_deref().map(read_cursor).transpose()?;
        let folder = request.cwd.as_deref().map(Path::to_string_lossy);
        let mut query = ThreadQuery {
            order: ThreadOrder::UpdatedNewest,
            limit: Some(PAGE),
            prefix: PREFIX,
            label: folder.as_deref().map(|folder| (FOLDER, folder)),
            ..ThreadQuery::default()
        };
        if let Some((ms, id)) = after {
            (query.after, query.after_ms) = (Some(id), ms);
        }
        let listed = self.store.threads(query).await;
        let listed = listed.map_err(|error| failed(&error))?;
        let next = listed.last().filter(|_| listed.len() == PAGE).map(cursor);
        let sessions = listed.iter().filter(|info| info.checkpoints > 0);
        let sessions = sessions.filter_map(shown).collect();
        Ok(ListSessionsResponse::new(sessions).next_cursor(next))
    }

    /// Labels the thread of a session with its folder and its title, which is the start of its first prompt. Returns the title if
    /// it is new.
    pub(crate) async fn label(
        &self,
        session: &Session,
        text: &str,
    ) -> Result<Option<String>, Error> {
        let thread = session.threads.thread(&session.id.0);
        let info = thread.info().await.map_err(of_thread)?;
        let mut labels: BTreeMap<String, String> = info.unwrap_or_default().labels;
        if labels.contains_key(FOLDER) {
            return Ok(None);
        }
        // A folder whose name is too long for a label is not listed; its session can be loaded.
        let folder = session.folder.to_str().filter(|it| it.len() <= MAX_LABEL);
        labels.insert(FOLDER.into(), folder.unwrap_or_default().into());
        let title = title(text);
        labels.extend(title.clone().map(|title| (TITLE.to_string(), title)));
        thread.set_labels(labels).await.map_err(of_thread)?;
        Ok(title)
    }

    fn session(&self, id: SessionId, setup: &SessionSetup) -> Result<Session, Error> {
        if !setup.folder().is_absolute() {
            return Err(unfit("`cwd` is not an absolute path"));
        }
        let made = (self.settings.agent)(setup);
        let made = made.map_err(|error| failed(&*error))?;
        #[cfg(feature = "mcp")]
        let agent = setup
            .clients()
            .into_iter()
            .fold(made.agent, petalflow_agent::Agent::tool_source);
        #[cfg(not(feature = "mcp"))]
        let agent = made.agent;
        let launch = (self.settings.launch)(agent.streaming().launch());
        let threads: Threads<AgentFlow> = launch.store(&self.store);
        Ok(Session::new(id, setup.folder().into(), threads, made.files))
    }

    fn open(&self, session: Session) -> Arc<Session> {
        let session = Arc::new(session);
        self.sessions()
            .insert(session.id.clone(), Arc::clone(&session));
        session
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        // Nothing under this lock can panic.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The ids of sessions begin with this.
const PREFIX: &str = "acp-";

fn new_id() -> SessionId {
    // The keys of a new `RandomState` are random.
    let random = || RandomState::new().hash_one(std::process::id());
    SessionId::new(format!("{PREFIX}{:016x}{:016x}", random(), random()))
}

/// The first line of a text, as far as a title has room for it.
fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(MAX_TITLE).collect();
    while title.len() > MAX_LABEL {
        title.pop();
    }
    Some(title)
}

fn shown(info: &ThreadInfo) -> Option<SessionInfo> {
    let folder = info
        .labels
        .get(FOLDER)
        .filter(|folder| !folder.is_empty())?;
    let shown = SessionInfo::new(info.id.clone(), folder);
    Some(
        shown
            .title(info.labels.get(TITLE).cloned())
            .updated_at(time(info.updated_ms)),
    )
}

/// A time in milliseconds since 1970 as ISO 8601.
fn time(ms: u64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(i64::try_from(ms).ok()?);
    Some(time.ok()?.to_string())
}

/// A place in the list: a time and an id.
fn cursor(info: &ThreadInfo) -> String {
    format!("{}/{}", info.updated_ms, info.id)
}

fn read_cursor(cursor: &str) -> Result<(u64, &str), Error> {
    let read = cursor.split_once('/');
    let read = read.and_then(|(ms, id)| Some((ms.parse().ok()?, id)));
    read.ok_or_else(|| unfit(format_args!("`{cursor}` is no cursor of `session/list`")))
}
