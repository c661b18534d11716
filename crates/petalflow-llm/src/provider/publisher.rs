//! The publishers of models at Vertex AI.

use super::catalog::{Family, OPENAI, Quirks, VERTEX};

/// Who has made a model of Vertex AI: that decides the format of its requests.
pub(super) struct Publisher {
    pub(super) family: Family,
    pub(super) quirks: Quirks,
    /// Whose signatures the model understands.
    pub(super) provider: &'static str,
}

impl Publisher {
    /// The publisher of the model with this name. A request may name another model than its client.
    pub(super) fn of(model: &str) -> Self {
        if model.starts_with("claude") {
            return Publisher {
                family: Family::Messages,
                quirks: OPENAI,
                // Anthropic documents that its signatures are valid on all platforms, and the format is the same.
                provider: "anthropic",
            };
        }
        Publisher {
            family: Family::Gemini,
            quirks: VERTEX,
            provider: "vertex",
        }
    }
}
