//! What a conversation flow is built from, besides its document.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::Tool;
use petalflow_document_model::conversations::ContextStrategy;
use petalflow_llm::LlmClient;

use crate::ActionHandler;

/// The program's code and the settings.
pub(crate) struct Settings {
    pub(crate) model: Option<Arc<dyn LlmClient>>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    /// By the name of the tool.
    pub(crate) timeouts: HashMap<String, Duration>,
    /// The tools whose calls an interruption ends.
    pub(crate) cancelled: HashSet<String>,
    pub(crate) actions: Vec<(String, Arc<dyn ActionHandler>)>,
    pub(crate) strategy: ContextStrategy,
    pub(crate) summary_timeout: Duration,
    pub(crate) max_model_calls: u32,
    pub(crate) streaming: bool,
}
