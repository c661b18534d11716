//! What the example agents share: the choice of a model.

use std::env;
use std::sync::Arc;

use petalflow_llm::ScriptedModel;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmRequest, ProviderModel, Reply, Retrying, Role,
};
use serde_json::Value;

/// A key in the environment, and the model that it opens.
const PROVIDERS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "gpt-5-mini"),
    ("ANTHROPIC_API_KEY", "claude-sonnet-4-6"),
    ("GEMINI_API_KEY", "gemini-2.5-flash"),
];

/// A model, and a line that says which it is.
pub struct Choice {
    /// Whoever answers.
    pub model: Arc<dyn LlmClient>,
    /// For people.
    pub words: String,
}

impl std::fmt::Debug for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Choice").field(&self.words).finish()
    }
}

/// The model that the environment names: `OPENAI_BASE_URL` is any server that speaks `OpenAI`'s language, a key is a
/// provider's, `MODEL` is another model than the usual one. Without any of them it is the script.
///
/// # Errors
///
/// When `MODEL` does not say whose model it is.
pub fn choose(script: ScriptedModel) -> Result<Choice, LlmError> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let named = set("MODEL");
    if let Some(url) = set("OPENAI_BASE_URL") {
        let name = named.unwrap_or_else(|| PROVIDERS[0].1.into());
        let words = format!("model: {name} at {url}");
        let mut model = ProviderModel::openai_compatible(url, name);
        if let Some(key) = set(PROVIDERS[0].0) {
            model = model.with_key(key);
        }
        return Ok(Choice {
            model: Arc::new(Retrying::new(model)),
            words,
        });
    }
    let usual = PROVIDERS.iter().find(|(key, _)| set(key).is_some());
    if let Some(name) = named.or_else(|| usual.map(|(_, name)| (*name).into())) {
        let model = ProviderModel::new(name.as_str())?;
        let words = format!("model: {name} of {}", model.name());
        return Ok(Choice {
            model: Arc::new(Retrying::new(model)),
            words,
        });
    }
    let keys: Vec<_> = PROVIDERS.iter().map(|(key, _)| *key).collect();
    Ok(Choice {
        model: Arc::new(script),
        words: format!(
            "model: a script, since neither OPENAI_BASE_URL nor {} is set",
            keys.join(", ")
        ),
    })
}

/// What a script answers to: the newest thing in a conversation.
#[derive(Debug)]
pub enum Newest {
    /// The user has spoken.
    User(String),
    /// A tool has returned.
    Result {
        /// Which tool.
        tool: String,
        /// What it returned.
        content: Value,
    },
}

/// The newest thing that a model is asked about.
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

/// An answer that comes word by word, as a real model's does.
pub fn word_by_word(text: &str) -> Reply {
    Reply::pieces(text.split_inclusive(' '))
}
