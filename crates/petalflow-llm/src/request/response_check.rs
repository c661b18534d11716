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
    /// Nothing makes a call unless it is whole. A call gets an [`error`](ToolCall::error), and arguments that are not JSON,
    /// if the answer did not end as a call (it was cut, filtered, refused or paused), if the call has no name, or if pieces
    /// of arguments arrived that belong to no call and its own are missing.
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
    /// call are not a JSON object, or if a call is not whole. Both contain the response.
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
        mark_broken_calls(&mut self);
        let mut invalid = None;
        for part in self
            .message
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            let Some(call) = part.as_call_mut() else {
                continue;
            };
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

/// Marks the calls that are not whole: they must not be made.
fn mark_broken_calls(response: &mut LlmResponse) {
    let early_end = early_end(response);
    let Some(message) = &mut response.message else {
        return;
    };
    let has_stray_pieces = message.calls().any(|call| call.name.trim().is_empty());
    let mut calls: Vec<_> = message
        .parts
        .iter_mut()
        .filter_map(Part::as_call_mut)
        .collect();
    let last = calls.len().saturating_sub(1);
    for (index, call) in calls.iter_mut().enumerate() {
        let name = &call.name;
        let problem = match &early_end {
            Some(end) if index == last => format!(
                "{end}, in this call of `{name}` or after it, so the call was not made; make it again, with shorter arguments \
                 if they are long"
            ),
            Some(end) => {
                format!("{end}, so none of its calls was made; make this call of `{name}` again")
            }
            None if name.trim().is_empty() => {
                "the call has no name, so it was not made; make it again, with the name of a tool"
                    .to_string()
            }
            None if has_stray_pieces && has_no_arguments(call) => format!(
                "arguments arrived that belong to no call, perhaps to this one of `{name}`, so the call was not made; make it \
                 again"
            ),
            None => continue,
        };
        if call.error.is_none() {
            mark(call, problem);
        }
    }
}

/// How the answer ended, if it did not end as a call. Some servers give the usual reason or none to an answer with calls.
fn early_end(response: &LlmResponse) -> Option<String> {
    let end = match response.finish.as_ref()? {
        FinishReason::Stop | FinishReason::ToolCalls => return None,
        FinishReason::Length => match response.usage.output {
            0 => "the answer was cut at the maximum number of tokens".to_string(),
            tokens => format!("the answer was cut at {tokens} tokens"),
        },
        FinishReason::ContentFilter => {
            "the answer was cut by the content filter of the provider".to_string()
        }
        FinishReason::Refusal => "the answer ended with a refusal".to_string(),
        FinishReason::Blocked => "the prompt was blocked".to_string(),
        FinishReason::Paused => "the provider paused the answer".to_string(),
        FinishReason::Other(reason) => format!("the answer ended with the reason `{reason}`"),
    };
    Some(end)
}

fn has_no_arguments(call: &ToolCall) -> bool {
    match &call.arguments {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn mark(call: &mut ToolCall, problem: String) {
    let received = match std::mem::take(&mut call.arguments) {
        Value::String(text) => text,
        Value::Null => String::new(),
        arguments => arguments.to_string(),
    };
    // Tools accept text that contains JSON. This text does not.
    call.arguments = format!("{received}…").into();
    call.error = Some(problem);
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
