//! Tokens in the forms of both interfaces.

use petalflow_llm::TokenUsage;
use serde_json::{Value, json};

/// The tokens, in the form of Chat Completions.
pub(super) fn of_chat(used: &TokenUsage) -> Value {
    json!({
        "prompt_tokens": used.input,
        "completion_tokens": used.output,
        "total_tokens": used.total,
        "prompt_tokens_details": { "cached_tokens": used.cached, "audio_tokens": used.input_audio },
        "completion_tokens_details": {
            "reasoning_tokens": used.reasoning,
            "audio_tokens": used.output_audio,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

/// The tokens, in the form of Responses.
pub(super) fn of_response(used: &TokenUsage) -> Value {
    json!({
        "input_tokens": used.input,
        "input_tokens_details": { "cached_tokens": used.cached, "cache_write_tokens": used.cache_writes },
        "output_tokens": used.output,
        "output_tokens_details": { "reasoning_tokens": used.reasoning },
        "total_tokens": used.total,
    })
}
