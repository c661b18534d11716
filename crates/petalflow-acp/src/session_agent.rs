//! The agent of a session.

use petalflow_agent::Agent;
use petalflow_agent::deep::Workspace;

/// The agent of a session, and the folder in which it changes files.
///
/// ```
/// use petalflow_acp::SessionAgent;
/// use petalflow_agent::Agent;
/// use petalflow_agent::deep::Workspace;
/// use petalflow_llm::ScriptedModel;
///
/// # fn main() -> petalflow::Result<()> {
/// # let dir = tempfile::tempdir()?;
/// # let dir = dir.path();
/// let files = Workspace::folder(&dir)?;
/// let agent = Agent::new(ScriptedModel::new(["Done."])).workspace(files.clone());
/// let agent = SessionAgent::from(agent).files(files);
/// # let _ = agent;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SessionAgent {
    pub(crate) agent: Agent,
    pub(crate) files: Option<Workspace>,
}

impl SessionAgent {
    /// Shows the changes in this workspace as diffs: before a person decides about one, and when it was made. A workspace in
    /// the thread has no files that an editor could show.
    #[must_use]
    pub fn files(self, workspace: Workspace) -> Self {
        SessionAgent {
            files: Some(workspace).filter(|files| files.folder_path().is_some()),
            ..self
        }
    }
}

impl From<Agent> for SessionAgent {
    /// An agent whose changes of files are not shown as diffs.
    fn from(agent: Agent) -> Self {
        SessionAgent { agent, files: None }
    }
}
