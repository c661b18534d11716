//! Code that the example agents share: the choice of a model.

pub mod phone;

use std::env;
use std::sync::Arc;

use petalflow_llm::ScriptedModel;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, LlmRequest, ProviderModel, Reply, Role};
use serde_json::Value;

/// A key in the environment, and its usual model.
const PROVIDERS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "gpt-5-mini"),
    ("ANTHROPIC_API_KEY", "claude-sonnet-4-6"),
    ("GEMINI_API_KEY", "gemini-2.5-flash"),
];

/// A model, and a line that describes it.
pub struct Choice {
    /// The client of the model.
    pub model: Arc<dyn LlmClient>,
    /// The description.
    pub description: String,
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Choice").field(&self.description).finish()
    }
}

/// The model that the environment names. `OPENAI_BASE_URL` is any server with `OpenAI`'s protocol, a key selects its provider,
/// and `MODEL` replaces the usual model. Without any of them, the script is used.
///
/// # Errors
///
/// If `MODEL` does not name the provider.
pub fn choose(script: ScriptedModel) -> Result<Choice, LlmError> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let named = set("MODEL");
    if let Some(url) = set("OPENAI_BASE_URL") {
        let name = named.unwrap_or_else(|| PROVIDERS[0].1.into());
        let description = format!("model: {name} at {url}");
        let mut model = ProviderModel::openai_compatible(url, name);
        if let Some(key) = set(PROVIDERS[0].0) {
            model = model.with_key(key);
        }
        return Ok(Choice {
            model: Arc::new(model),
            description,
        });
    }
    let usual = PROVIDERS.iter().find(|(key, _)| set(key).is_some());
    if let Some(name) = named.or_else(|| usual.map(|(_, name)| (*name).into())) {
        let model = ProviderModel::new(name.as_str())?;
        let description = format!("model: {name} of {}", model.name());
        return Ok(Choice {
            model: Arc::new(model),
            description,
        });
    }
    let keys: Vec<_> = PROVIDERS.iter().map(|(key, _)| *key).collect();
    Ok(Choice {
        model: Arc::new(script),
        description: format!(
            "model: a script, since neither OPENAI_BASE_URL nor {} is set",
            keys.join(", ")
        ),
    })
}

/// The newest part of a conversation, which a script answers.
#[derive(Debug)]
pub enum Newest {
    /// A message of the user.
    User(String),
    /// The result of a tool.
    Result {
        /// The name of the tool.
        tool: String,
        /// Its result.
        content: Value,
    },
}

/// The newest part of a request.
pub fn newest(request: &LlmRequest) -> Newest {
    if let Some(text) = &request.input_text {
        return Newest::User(text.clone());
    }
    let mut newest_first = request.messages.iter().rev();
    let message = newest_first.find(|message| message.role != Role::System);
    let result = message.and_then(|message| message.tool_results().last());
    match result {
        Some(result) => Newest::Result {
            tool: result.name.clone(),
            content: result.content.clone(),
        },
        None => Newest::User(message.map(ChatMessage::text).unwrap_or_default()),
    }
}

/// An answer that arrives word by word, like that of a real model.
pub fn word_by_word(text: &str) -> Reply {
    Reply::chunks(text.split_inclusive(' '))
}
