//! What a conversation flow is built from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::Tool;
use petalflow_conversation_document::{ContextStrategy, Conversation};
use petalflow_llm::LlmClient;

use crate::ActionHandler;

/// A document, the program's code and the settings.
pub(crate) struct Settings {
    pub(crate) document: Conversation,
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
