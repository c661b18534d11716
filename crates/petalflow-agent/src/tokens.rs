//! Estimates of the number of tokens. Providers count them only after a request was made.

use petalflow_llm::{ChatMessage, LlmRequest, Part};
use serde_json::{Map, Value};

/// The bytes of text that count as one token.
const BYTES: usize = 4;
/// The tokens around the content of a message.
const FRAME: u64 = 4;
/// The tokens of a medium.
const MEDIUM: u64 = 1_000;
/// The bytes of text that count as much as a medium.
const MEDIUM_BYTES: usize = 4_000;

/// The estimated tokens of a message.
pub(crate) fn of_message(message: &ChatMessage) -> u64 {
    FRAME + message.parts.iter().map(of_part).sum::<u64>()
}

/// The estimated tokens of a request.
pub(crate) fn of_request(request: &LlmRequest) -> u64 {
    let texts = [&request.system, &request.instructions, &request.input_text];
    let texts = texts.into_iter().flatten().map(|text| of_bytes(text.len()));
    let tools = request.tools.iter().map(|tool| {
        let words = of_bytes(tool.name.len() + tool.description.len());
        FRAME + words + of_json(&tool.parameters)
    });
    let schema = request.json_schema.iter().map(|schema| of_json(schema));
    let messages = request.messages.iter().map(of_message);
    texts.chain(tools).chain(schema).chain(messages).sum()
}

fn of_part(part: &Part) -> u64 {
    match part {
        Part::Text(text) | Part::Thought(text) => of_bytes(text.text.len()),
        Part::Call(call) => of_bytes(call.name.len()) + of_json(&call.arguments),
        Part::Result(result) => of_bytes(result.name.len()) + of_json(&result.content),
        Part::Code { code, .. } => of_bytes(code.len()),
        Part::CodeResult { output, .. } => of_bytes(output.len()),
        Part::Citation(_) => 0,
        Part::Provider { value, .. } => of_json(value),
        _ => MEDIUM,
    }
}

fn of_json(value: &Value) -> u64 {
    of_bytes(json_bytes(value))
}

/// The approximate length of the JSON text, without writing it.
fn json_bytes(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(number) => number.to_string().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| json_bytes(item) + 1).sum::<usize>(),
        // It is sent as what it is, and not as the text of its data.
        Value::Object(fields) if is_medium(fields) => MEDIUM_BYTES,
        Value::Object(fields) => {
            let fields = fields.iter();
            2 + fields
                .map(|(name, value)| name.len() + 4 + json_bytes(value))
                .sum::<usize>()
        }
    }
}

/// Whether this part of a tool's result is a picture, a sound or a file with its data.
fn is_medium(fields: &Map<String, Value>) -> bool {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    matches!(text("type"), Some("image" | "audio" | "video" | "resource"))
        && text("media_type").is_some()
        && text("data").is_some()
}

fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(BYTES)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_are_a_token_and_each_part_counts() {
        assert_eq!(of_message(&ChatMessage::user("12345678")), FRAME + 2);
        let call = petalflow::tool::ToolCall {
            name: "search".into(),
            arguments: serde_json::json!({"for": "roses", "n": [1, 2]}),
            ..Default::default()
        };
        let message = ChatMessage::new(petalflow_llm::Role::Assistant, vec![Part::Call(call)]);
        assert!((FRAME + 9..FRAME + 14).contains(&of_message(&message)));
        let request = LlmRequest {
            system: Some("x".repeat(400)),
            ..LlmRequest::new(vec![ChatMessage::user("")])
        };
        assert_eq!(of_request(&request), 100 + FRAME);
    }

    #[test]
    fn a_picture_in_a_result_counts_as_a_picture() {
        let picture = serde_json::json!({
            "output": [{ "type": "image", "media_type": "image/png", "data": "A".repeat(1_000_000) }]
        });
        let result = petalflow::tool::ToolResult {
            name: "draw".into(),
            content: picture,
            ..Default::default()
        };
        let tokens = of_message(&ChatMessage::results([result]));
        assert!((MEDIUM..MEDIUM + 20).contains(&tokens), "{tokens}");
    }
}
