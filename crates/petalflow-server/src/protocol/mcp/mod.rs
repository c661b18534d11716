//! Flows and agents as tools of the Model Context Protocol (MCP), over Streamable HTTP.

mod answer_form;
mod answer_tool;
mod arguments;
mod call;
mod caller;
mod calls;
mod endpoint;
mod handler;
mod outcome;
mod progress;
mod questions;
mod tools;

use crate::builder::ServerBuilder;

pub(crate) use endpoint::routes;

impl ServerBuilder {
    /// Serves all flows, agents, conversations and documents as tools of the Model Context Protocol, at `/mcp`. A client sends the
    /// token of [`threads`](Self::threads) in its header or as `Authorization: Bearer TOKEN`.
    ///
    /// A call starts a thread and waits for its run. A question to a person is asked through the client if it has elicitation;
    /// otherwise the result names the thread and what it waits for, and the tool `answer` answers it. The guide `mcp` describes what
    /// the server does.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let librarian = Agent::new(ScriptedModel::new(["Hello."]));
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server =
    ///     Server::builder(&InMemoryStore::new()).agent("librarian", &librarian).threads(auth).mcp().build()?;
    /// let app: axum::Router = server.router();
    /// # let _ = app;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn mcp(mut self) -> Self {
        self.protocols.mcp = true;
        self
    }
}
