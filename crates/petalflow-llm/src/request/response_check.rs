//! Checks of complete responses with their requests.

use serde_json::{Map, Value};

use crate::response::FinishReason;
use crate::{LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part};
use petalflow::tool::ToolCall;

impl LlmResponse {
    /// The response as a client returns it: call arguments are objects, and `json` follows the request's schema.
    ///
    /// Empty arguments become `{}`. If the request has a schema and the provider parsed no `json`, the text is parsed
    /// and used if it is an object.
    ///
    /// The last call of an answer that was cut, by the maximum number of tokens or by a filter, may be incomplete even if
    /// its arguments can be parsed. It gets an [`error`](ToolCall::error), and arguments that are not JSON: nothing makes
    /// the call.
    ///
    /// ```
    /// use petalflow_llm::{LlmRequest, LlmResponse};
    /// use serde_json::json;
    ///
    /// let request = LlmRequest::prompt("Who?").with_schema(json!({"type": "object"}));
    /// let response = LlmResponse::text_only(r#"{"name": "Ada"}"#).checked(&request)?;
    /// assert_eq!(response.json, Some(json!({"name": "Ada"})));
    /// # Ok::<(), petalflow_llm::LlmError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Blocked`] if the provider blocked the prompt. [`LlmErrorKind::Arguments`] if the arguments of a
    /// call are not a JSON object, or if the answer was cut in a call. Both contain the response.
    pub fn checked(self, request: &LlmRequest) -> Result<Self, LlmError> {
        self.checked_with(request.json_schema.is_some())
    }

    pub(crate) fn checked_with(mut self, wants_json: bool) -> Result<Self, LlmError> {
        if self.finish == Some(FinishReason::Blocked) {
            return Err(LlmError::blocked(self));
        }
        if wants_json && self.json.is_none() {
            let text = self.text();
            let parse = |text: &str| serde_json::from_str(text).ok().filter(Value::is_object);
            self.json = parse(&text).or_else(|| parse(inside_fence(&text)?));
        }
        mark_cut_call(&mut self);
        let mut invalid = None;
        for part in self
            .message
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            let Part::Call(call) = part else { continue };
            if let Some(error) = &call.error {
                invalid = invalid.or_else(|| Some(not_made(call, error)));
                continue;
            }
            match &call.arguments {
                Value::Object(_) => {}
                Value::Null => call.arguments = Value::Object(Map::new()),
                Value::String(text) if text.trim().is_empty() => {
                    call.arguments = Value::Object(Map::new());
                }
                other => invalid = invalid.or_else(|| Some(not_an_object(call, other))),
            }
        }
        match invalid {
            None => Ok(self),
            Some(message) => {
                let response = Box::new(self);
                Err(LlmError::new(LlmErrorKind::Arguments { response }, message))
            }
        }
    }
}

/// The text inside of a Markdown fence, in which some models write an answer that is to be JSON only.
fn inside_fence(text: &str) -> Option<&str> {
    let (_, fenced) = text.trim().strip_prefix("```")?.split_once('\n')?;
    fenced.trim_end().strip_suffix("```")
}

/// Marks the last call of an answer that was cut: nothing tells whether it is complete.
fn mark_cut_call(response: &mut LlmResponse) {
    let reason = match response.finish {
        Some(FinishReason::Length) => match response.usage.output {
            0 => "at the maximum number of tokens".to_string(),
            tokens => format!("at {tokens} tokens"),
        },
        Some(FinishReason::ContentFilter) => "by the content filter of the provider".to_string(),
        _ => return,
    };
    let parts = response.message.iter_mut();
    let parts = parts.flat_map(|message| message.parts.iter_mut().rev());
    let mut last = parts.filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    let Some(call) = last.next().filter(|call| call.error.is_none()) else {
        return;
    };
    let received = match std::mem::take(&mut call.arguments) {
        Value::String(text) => text,
        Value::Null => String::new(),
        arguments => arguments.to_string(),
    };
    // Tools accept text that contains JSON. This text does not.
    call.arguments = format!("{received}…").into();
    call.error = Some(format!(
        "the answer was cut {reason}, in this call of `{}` or after it, so the call was not made; make it again, with shorter \
         arguments if they are long",
        call.name
    ));
}

/// The error text for a call that must not be made.
fn not_made(call: &ToolCall, error: &str) -> String {
    format!(
        "call `{}` of tool `{}` is not complete: {error}",
        call.id, call.name
    )
}

/// The error text for arguments that are not a JSON object. It shows only their start, because they can be very long.
fn not_an_object(call: &ToolCall, arguments: &Value) -> String {
    let text = match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let start: String = text.chars().take(MAX_SHOWN).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!(
        "arguments of call `{}` of tool `{}` are not a JSON object: `{}{more}`",
        call.id,
        call.name,
        start.escape_debug()
    )
}

/// The maximum length of wrong arguments in an error, in characters.
const MAX_SHOWN: usize = 80;
