//! The server: an agent for editors.

use std::fmt;
use std::sync::Arc;

use agent_client_protocol::ByteStreams;
use petalflow::checkpoint::Store;
use petalflow::interrupt::Ask;
use petalflow::{BoxError, Launch};
use petalflow_agent::AgentFlow;
use petalflow_agent::human::EndSleep;
use schemars::JsonSchema;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use crate::error::AcpError;
use crate::handlers;
use crate::question::Questions;
use crate::session_agent::SessionAgent;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::setup::SessionSetup;

/// An agent of the Agent Client Protocol: what an editor starts.
///
/// A session is a thread of the store, and a prompt is a turn. A process that is killed loses nothing that was stored: the
/// editor loads the session again, and the next prompt first finishes the turn that was interrupted.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow_acp::AcpServer;
/// use petalflow_agent::Agent;
/// use petalflow_llm::ScriptedModel;
///
/// let agent = Agent::new(ScriptedModel::new(["Hello."]));
/// let server = AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone().into())).named("guide", "1.0.0");
/// # let _ = server;
/// ```
#[must_use = "nothing is served before `stdio` or `over`"]
pub struct AcpServer {
    store: Arc<dyn Store>,
    settings: Settings,
}

impl AcpServer {
    /// A server whose sessions are threads of this store. The function makes the agent of each session, for the folder that is
    /// open in the editor; the editor shows its errors.
    ///
    /// Use one store for one agent. With a store in memory, sessions end with the process.
    pub fn new(
        store: &(impl Store + Clone),
        agent: impl Fn(&SessionSetup) -> Result<SessionAgent, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let mut questions = Questions::default();
        questions.add::<EndSleep>();
        AcpServer {
            store: Arc::new(store.clone()),
            settings: Settings {
                agent: Box::new(agent),
                launch: Box::new(|launch| launch),
                name: "petalflow".into(),
                version: env!("CARGO_PKG_VERSION").into(),
                images: false,
                questions,
            },
        }
    }

    /// Sets the name and the version that editors show.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.settings.name, self.settings.version) = (name.into(), version.into());
        self
    }

    /// Takes images in prompts, for a model that reads them.
    pub fn images(mut self) -> Self {
        self.settings.images = true;
        self
    }

    /// Sets the launch of the runs: managed values, middleware, timeouts.
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_acp::AcpServer;
    /// # use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # let agent = Agent::new(ScriptedModel::new(["Hello."]));
    /// let server = AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone().into()))
    ///     .launch(|launch| launch.timeout(Duration::from_secs(3600)));
    /// # let _ = server;
    /// ```
    pub fn launch(
        mut self,
        launch: impl Fn(Launch<AgentFlow>) -> Launch<AgentFlow> + Send + Sync + 'static,
    ) -> Self {
        self.settings.launch = Box::new(launch);
        self
    }

    /// Takes answers to this question of a tool. An editor that shows forms shows one, if the answer is a text, a number, yes or
    /// no, or has such fields. Otherwise the turn ends with the question, and the next prompt is the answer.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::interrupt::Ask;
    /// use petalflow_acp::AcpServer;
    /// # use petalflow_agent::Agent;
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// #[derive(serde::Serialize, Ask)]
    /// #[ask(answer = String)]
    /// struct WhichBranch {
    ///     repository: String,
    /// }
    ///
    /// # let agent = Agent::new(ScriptedModel::new(["Hello."]));
    /// let server = AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone().into())).question::<WhichBranch>();
    /// # let _ = server;
    /// ```
    pub fn question<A: Ask<Answer: JsonSchema>>(mut self) -> Self {
        self.settings.questions.add::<A>();
        self
    }

    /// Serves over standard input and output until the editor closes them. Nothing else may write to standard output.
    ///
    /// # Errors
    ///
    /// If the pipes fail.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops all turns at once. The next process continues them.
    pub async fn stdio(self) -> Result<(), AcpError> {
        self.over(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves over any pipes, until the editor closes them.
    ///
    /// # Errors
    ///
    /// If the pipes fail.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops all turns at once. The next process continues them.
    pub async fn over(
        self,
        input: impl AsyncRead + Send + 'static,
        output: impl AsyncWrite + Send + 'static,
    ) -> Result<(), AcpError> {
        let sessions = Arc::new(Sessions::new(self.store, self.settings));
        let pipes = ByteStreams::new(output.compat_write(), input.compat());
        Ok(handlers::serve(sessions, pipes).await?)
    }
}

impl fmt::Debug for AcpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpServer")
            .field("name", &self.settings.name)
            .field("questions", &self.settings.questions)
            .finish_non_exhaustive()
    }
}
