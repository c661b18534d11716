//! The model of the programs.

use std::env;
use std::sync::Arc;

use petalflow_llm::{LlmClient, LlmError, ProviderModel};

/// The model that the environment names: `MODEL` of the server `OPENAI_BASE_URL`, or of the provider of that model.
///
/// # Errors
///
/// If there is no such model, or no key for it.
pub fn from_environment() -> Result<Arc<dyn LlmClient>, LlmError> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let name = set("MODEL").unwrap_or_else(|| "gpt-5-mini".into());
    Ok(match set("OPENAI_BASE_URL") {
        Some(url) => Arc::new(ProviderModel::openai_compatible(url, name)),
        None => Arc::new(ProviderModel::new(name)?),
    })
}
