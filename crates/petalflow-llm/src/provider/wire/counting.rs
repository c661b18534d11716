//! Requests for the number of tokens of another request.

use serde_json::{Value, json};

use crate::provider::catalog::{Family, Platform, Target};

/// The fields of a request that Anthropic counts. It refuses others.
const OF_MESSAGES: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
];

/// The fields of a request that OpenAI counts.
const OF_RESPONSES: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "text",
    "reasoning",
];

/// The fields of a request that Vertex AI counts.
const OF_VERTEX: &[&str] = &["contents", "systemInstruction", "tools", "generationConfig"];

/// The path and the body of a request for the number of tokens of a request with this body. `None` for a format without
/// such requests.
pub(super) fn request(target: &Target<'_>, body: Value) -> Option<(String, Value)> {
    match target.family {
        Family::Chat => None,
        #[cfg(feature = "bedrock")]
        Family::Converse => None,
        Family::Responses => Some((
            "responses/input_tokens".to_string(),
            only(body, OF_RESPONSES),
        )),
        Family::Messages => Some((
            target.count_path().to_string(),
            target.counted_at_platform(only(body, OF_MESSAGES)),
        )),
        Family::Gemini if target.platform == Platform::Vertex => {
            let path = format!("{}:countTokens", target.gemini_model());
            Some((path, only(body, OF_VERTEX)))
        }
        Family::Gemini => {
            let model = target.gemini_model();
            let path = format!("{model}:countTokens");
            let mut request = body;
            request["model"] = model.into();
            Some((path, json!({ "generateContentRequest": request })))
        }
    }
}

fn only(mut body: Value, fields: &[&str]) -> Value {
    if let Value::Object(all) = &mut body {
        all.retain(|name, _| fields.contains(&name.as_str()));
    }
    body
}

/// The count in an answer.
pub(super) fn count(body: &Value) -> Option<u64> {
    body.get("input_tokens")
        .or_else(|| body.get("totalTokens"))?
        .as_u64()
}
