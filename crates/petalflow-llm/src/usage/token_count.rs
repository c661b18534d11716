//! The number of tokens of a request, before it is sent.

use serde_json::Value;

use crate::{ChatMessage, LlmRequest, Part};
use petalflow::tool::{ToolResult, ToolSpec};

/// The number of input tokens of a request. See [`LlmClient::count_tokens`](crate::LlmClient::count_tokens).
///
/// ```
/// use petalflow_llm::LlmRequest;
/// use petalflow_llm::usage::TokenCount;
///
/// let count = TokenCount::estimate(&LlmRequest::prompt("What is the capital of France?"));
/// assert!(!count.exact && (5..20).contains(&count.tokens));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: u64,
    /// Whether the provider counted. Otherwise the number is an estimate.
    pub exact: bool,
}

/// The tokens around a message, a tool or a schema.
const AROUND: u64 = 4;

/// The tokens of a picture, a recording or a document, which depend on its size. Providers take some hundred to some
/// thousand.
const MEDIA: u64 = 1_500;

impl TokenCount {
    /// A count of the provider.
    ///
    /// ```
    /// use petalflow_llm::usage::TokenCount;
    ///
    /// assert!(TokenCount::exact(12).exact);
    /// ```
    pub const fn exact(tokens: u64) -> Self {
        TokenCount {
            tokens,
            exact: true,
        }
    }

    /// An estimate without a tokenizer: one token for each 4 bytes of ASCII text, and for each other character. Each
    /// message, tool and schema has 4 more, and each medium 1,500. Searchable tools are not counted.
    ///
    /// English text has about this number. Text in other Latin scripts has fewer, code and rare words have more: leave
    /// a fifth of a limit free.
    pub fn estimate(request: &LlmRequest) -> Self {
        let prompts = [&request.system, &request.instructions, &request.input_text];
        let prompts = prompts.into_iter().flatten();
        let prompts = prompts.map(|text| AROUND + of_text(text));
        let messages = request.messages.iter().map(Self::of_message);
        let tools = request.tools.iter().map(|tool| of_tool(tool));
        let schema = request.json_schema.iter();
        let schema = schema.map(|schema| AROUND + of_json(schema));
        TokenCount {
            tokens: prompts.chain(messages).chain(tools).chain(schema).sum(),
            exact: false,
        }
    }

    /// The estimate for one message, in tokens: the sum over messages is that of their request.
    ///
    /// ```
    /// use petalflow_llm::ChatMessage;
    /// use petalflow_llm::usage::TokenCount;
    ///
    /// assert_eq!(TokenCount::of_message(&ChatMessage::user("petals")), 6);
    /// ```
    pub fn of_message(message: &ChatMessage) -> u64 {
        AROUND + message.parts.iter().map(of_part).sum::<u64>()
    }
}

fn of_part(part: &Part) -> u64 {
    match part {
        Part::Text(text) | Part::Thought(text) => of_text(&text.text),
        Part::Media(_) => MEDIA,
        Part::Call(call) => AROUND + of_text(&call.name) + of_json(&call.arguments),
        Part::Result(result) => of_result(result),
        Part::Code { code, .. } => AROUND + of_text(code),
        Part::CodeResult { output, .. } => AROUND + of_text(output),
        Part::Citation(_) => 0,
        Part::Provider { value, .. } => of_json(value),
    }
}

/// Media in a result are sent as media, and not as text.
fn of_result(result: &ToolResult) -> u64 {
    AROUND + of_content(&result.content)
}

fn of_content(value: &Value) -> u64 {
    match value {
        Value::Object(fields) if crate::message::Media::from_block(fields).is_some() => MEDIA,
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| 1 + of_text(name) + of_content(value))
            .sum(),
        Value::Array(items) => items.iter().map(|item| 1 + of_content(item)).sum(),
        Value::String(text) => of_text(text),
        other => of_json(other),
    }
}

fn of_tool(tool: &ToolSpec) -> u64 {
    AROUND + of_text(&tool.name) + of_text(&tool.description) + of_json(&tool.parameters)
}

fn of_json(value: &Value) -> u64 {
    of_text(&value.to_string())
}

fn of_text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    let tokens = ascii.div_ceil(4) + other;
    tokens.try_into().unwrap_or(u64::MAX)
}
