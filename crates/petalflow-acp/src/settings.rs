//! What a server is made of, beside its store.

use petalflow::{BoxError, Launch};
use petalflow_agent::AgentFlow;

use crate::question::Questions;
use crate::session_agent::SessionAgent;
use crate::setup::SessionSetup;

/// What a server is made of.
pub(crate) struct Settings {
    pub(crate) agent: Box<dyn Fn(&SessionSetup) -> Result<SessionAgent, BoxError> + Send + Sync>,
    pub(crate) launch: Box<dyn Fn(Launch<AgentFlow>) -> Launch<AgentFlow> + Send + Sync>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) images: bool,
    pub(crate) questions: Questions,
}
