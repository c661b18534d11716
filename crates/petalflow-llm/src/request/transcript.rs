//! Requests as text, for assertions and logs.

use crate::{ChatMessage, LlmRequest, Part};

impl LlmRequest {
    /// The conversation as one text for each message: the role, and the parts joined by ` & `. Calls are written as
    /// `name{arguments}`, results as `name = content`, and thoughts in parentheses. For assertions.
    ///
    /// ```
    /// use petalflow::tool::{ToolCall, ToolResult};
    /// use petalflow_llm::{ChatMessage, LlmRequest, Part, Role};
    /// use serde_json::json;
    ///
    /// let call = ToolCall { name: "add".into(), arguments: json!({ "a": 1 }), ..ToolCall::default() };
    /// let result = ToolResult { name: "add".into(), content: json!(2), ..ToolResult::default() };
    /// let request = LlmRequest::new(vec![
    ///     ChatMessage::user("1 + 1?"),
    ///     ChatMessage::new(Role::Assistant, vec![Part::Thought("easy".into()), Part::Call(call)]),
    ///     ChatMessage::results([result]),
    /// ]);
    /// assert_eq!(request.transcript(), ["user: 1 + 1?", r#"assistant: (easy) & add{"a":1}"#, "tool: add = 2"]);
    /// ```
    pub fn transcript(&self) -> Vec<String> {
        let input = self.input_text.as_deref().map(ChatMessage::user);
        let messages = self.messages.iter().cloned().chain(input);
        messages
            .map(|message| {
                let parts: Vec<String> = message.parts.iter().map(words).collect();
                format!("{}: {}", message.role, parts.join(" & "))
            })
            .collect()
    }
}

fn words(part: &Part) -> String {
    match part {
        Part::Text(text) => text.text.clone(),
        Part::Thought(text) => format!("({})", text.text),
        Part::Call(call) => format!("{}{}", call.name, call.arguments),
        Part::Result(result) => format!("{} = {}", result.name, result.content),
        Part::Media(media) => format!("[{}]", media.media_type),
        Part::Code { language, code, .. } => format!("{language} {code:?}"),
        Part::CodeResult { output, .. } => format!("output {output:?}"),
        Part::Citation(citation) => format!("[{}]", citation.source.title()),
        Part::Provider { provider, value } => match value["type"].as_str() {
            Some(kind) => format!("[{provider}: {kind}]"),
            None => format!("[{provider}]"),
        },
    }
}
