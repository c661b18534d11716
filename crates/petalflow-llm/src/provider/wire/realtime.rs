//! OpenAI's realtime sessions: the items of a conversation, and the event that asks for a response.
//!
//! The server has the items. A program adds and deletes some, and each response adds others.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::call_ids::CallIds;
use super::content::{
    arguments_object, call_name, data_url, effort_level, result_text, split_result, unsupported,
    with_extra,
};
use super::usage;
use crate::message::{Media, MediaSource};
use crate::request::ToolChoice;
use crate::usage::Price;
use crate::{ChatMessage, LlmError, LlmRequest, Part, Role, TokenUsage};
use petalflow::tool::ToolCall;

/// The longest id that the server takes.
const MAX_ID: usize = 32;

/// The most tokens that a response can have.
const MAX_TOKENS: u32 = 4_096;

/// The items of the conversation of a request, in order, without ids.
///
/// # Errors
///
/// If the request needs what such sessions do not have.
pub(crate) fn items(request: &LlmRequest) -> Result<Vec<Value>, LlmError> {
    check(request)?;
    let mut ids = CallIds::default();
    let mut items = Vec::with_capacity(request.messages.len() + 1);
    for message in request.messages.iter() {
        match message.role {
            Role::System => items.push(message_item("system", input_text(&message.text()))),
            Role::User => items.extend(user_item(message)?),
            Role::Assistant => {
                ids.new_turn();
                items.extend(assistant_items(message, &mut ids));
            }
            Role::Tool => items.extend(message.tool_results().map(|result| {
                let sent = split_result(result, |_| false);
                json!({
                    "type": "function_call_output",
                    "call_id": short_id(ids.for_result(result)),
                    "output": result_text(&sent.content, result.is_error),
                })
            })),
        }
    }
    items.extend(request.input_text.as_deref().map(user_text));
    Ok(items)
}

/// The event that asks for the response to a request. The settings are those of this response alone.
pub(crate) fn create_response(request: &LlmRequest) -> Value {
    let instructions = request.system.iter().chain(&request.instructions);
    let instructions: Vec<&str> = instructions.map(String::as_str).collect();
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        })
    });
    let mut response = json!({
        // Without this field, the server has instructions of its own.
        "instructions": instructions.join("\n\n"),
        "tools": tools.collect::<Vec<_>>(),
        "tool_choice": match &request.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Tool(name) => json!({ "type": "function", "name": name }),
        },
    });
    if let Some(most) = request.max_tokens {
        response["max_output_tokens"] = most.min(MAX_TOKENS).into();
    }
    if let Some(parallel) = request.parallel_calls {
        response["parallel_tool_calls"] = parallel.into();
    }
    if let Some(effort) = request.effort {
        response["reasoning"] = json!({ "effort": effort_level(effort) });
    }
    json!({ "type": "response.create", "response": with_extra(response, request) })
}

/// The settings of a request that these models do not take.
pub(crate) fn not_sent(request: &LlmRequest) -> Vec<&'static str> {
    let settings = [
        ("temperature", request.temperature.is_some()),
        ("top_p", request.top_p.is_some()),
        ("stop", !request.stop.is_empty()),
        ("seed", request.seed.is_some()),
    ];
    let set = settings.into_iter().filter(|(_, is_set)| *is_set);
    set.map(|(name, _)| name).collect()
}

/// The item of a text of the person.
pub(crate) fn user_text(text: &str) -> Value {
    message_item("user", input_text(text))
}

/// The item of a text of the model.
pub(crate) fn assistant_text(text: &str) -> Value {
    message_item(
        "assistant",
        json!([{ "type": "output_text", "text": text }]),
    )
}

/// The item of a call of the model, as a request has it.
pub(crate) fn call_item(call: &ToolCall) -> Value {
    function_call(call, call.id.clone())
}

/// The call in an item of a response. `None` for other items, and for a call that was cut.
pub(crate) fn read_call(item: &Value) -> Option<ToolCall> {
    let text = |field: &str| item.get(field).and_then(Value::as_str);
    let is_whole = text("status").is_none_or(|status| status == "completed");
    if text("type") != Some("function_call") || !is_whole {
        return None;
    }
    let arguments = text("arguments").unwrap_or_default();
    let arguments = match arguments.trim() {
        "" => json!({}),
        // The response is checked later, and the model reads what is wrong.
        arguments => serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into()),
    };
    Some(ToolCall {
        id: text("call_id").unwrap_or_default().to_string(),
        name: text("name").unwrap_or_default().to_string(),
        arguments,
        ..ToolCall::default()
    })
}

/// The text of a message in a response: the words of its audio, or its text. `None` for other items.
pub(crate) fn read_text(item: &Value) -> Option<String> {
    if item["type"] != "message" {
        return None;
    }
    let parts = item["content"].as_array().into_iter().flatten();
    let text = |part: &Value| {
        let text = part.get("transcript").or_else(|| part.get("text"));
        Some(text?.as_str()?.to_string())
    };
    Some(parts.filter_map(text).collect())
}

/// The tokens of a response, and their cost. A cached token of audio has the price of a cached one.
pub(crate) fn read_usage(counts: &Value, price: Option<Price>) -> TokenUsage {
    let mut all = usage::openai(counts);
    if let Some(price) = price {
        let uncached = TokenUsage {
            input_audio: all.input_audio.saturating_sub(usage::cached_audio(counts)),
            ..all
        };
        all.cost = price.cost(&uncached);
    }
    all
}

/// Refuses a request that needs what such sessions do not have.
fn check(request: &LlmRequest) -> Result<(), LlmError> {
    let refused = |what: &str| {
        Err(LlmError::request(format!(
            "a voice model has no {what}; remove it from the request, or use a model without a voice"
        )))
    };
    if request.json_schema.is_some() {
        return Err(LlmError::request(
            "a voice model has no answers that follow a schema; give it a tool that takes the values",
        ));
    }
    if !request.searchable_tools.is_empty() {
        return refused("tool search of its provider");
    }
    if !request.native_tools.is_empty() {
        return refused("tools that its provider runs");
    }
    Ok(())
}

fn user_item(message: &ChatMessage) -> Result<Option<Value>, LlmError> {
    let text_part = |text: &str| json!({ "type": "input_text", "text": text });
    let mut content = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        match part {
            Part::Text(text) => content.push(text_part(&text.text)),
            Part::Media(media) => content.push(picture(media)?),
            other => content.extend(other.code_as_text().map(|text| text_part(&text))),
        }
    }
    Ok((!content.is_empty()).then(|| message_item("user", content.into())))
}

fn picture(media: &Media) -> Result<Value, LlmError> {
    match &media.source {
        MediaSource::Base64(_) if media.media_type.starts_with("image/") => {
            Ok(json!({ "type": "input_image", "image_url": data_url(media) }))
        }
        _ => Err(unsupported(media, "it takes pictures as data")),
    }
}

/// The items of a message of the model: one for each text and each call.
fn assistant_items(message: &ChatMessage, ids: &mut CallIds) -> Vec<Value> {
    let mut items = Vec::with_capacity(message.parts.len());
    for part in &message.parts {
        match part {
            Part::Text(text) if text.text.is_empty() => {}
            Part::Text(text) => items.push(assistant_text(&text.text)),
            Part::Call(call) => items.push(function_call(call, ids.for_call(call))),
            other => items.extend(other.code_as_text().map(|text| assistant_text(&text))),
        }
    }
    items
}

fn function_call(call: &ToolCall, id: String) -> Value {
    json!({
        "type": "function_call",
        "call_id": short_id(id),
        "name": call_name(&call.name),
        "arguments": arguments_object(&call.arguments).to_string(),
    })
}

/// The id, or a shorter one in its place, which is the same for each item of a session.
fn short_id(id: String) -> String {
    if id.len() <= MAX_ID {
        return id;
    }
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    format!("call_{:016x}", hasher.finish())
}

fn input_text(text: &str) -> Value {
    json!([{ "type": "input_text", "text": text }])
}

fn message_item(role: &str, content: Value) -> Value {
    json!({ "type": "message", "role": role, "content": content })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::native::WebSearch;
    use crate::request::Effort;
    use petalflow::tool::{ToolResult, ToolSpec};

    #[test]
    fn a_conversation_of_another_model_becomes_items() {
        let long = "call_of_another_provider_with_a_long_id";
        let call = ToolCall {
            id: long.into(),
            name: "look".into(),
            arguments: json!({ "for": "petals" }),
            ..ToolCall::default()
        };
        let picture = Media {
            media_type: "image/png".into(),
            source: MediaSource::Base64("AAAA".into()),
            origin: None,
        };
        let result = ToolResult {
            call_id: long.into(),
            name: "look".into(),
            content: json!({ "found": picture.to_block() }),
            is_error: false,
        };
        let asked = vec![Part::text("What is this?"), Part::Media(picture.clone())];
        let said = vec![
            Part::Thought("hm".into()),
            Part::text("I look."),
            Part::Call(call),
        ];
        let request = LlmRequest {
            input_text: Some("And now?".into()),
            ..LlmRequest::new(vec![
                ChatMessage::new(Role::System, vec![Part::text("Be brief.")]),
                ChatMessage::new(Role::User, asked),
                ChatMessage::new(Role::Assistant, said),
                ChatMessage::new(Role::Tool, vec![Part::Result(result)]),
            ])
        };
        let items = items(&request).unwrap();
        let id = items[3]["call_id"].as_str().unwrap();
        assert!(id.len() <= MAX_ID, "{id}");
        assert_eq!(items[4]["call_id"], id);
        let output = items[4]["output"].as_str().unwrap();
        assert!(
            !output.contains("AAAA") && output.contains("not shown"),
            "{output}"
        );
        assert_eq!(items[0], message_item("system", input_text("Be brief.")));
        assert_eq!(
            items[1]["content"],
            json!([
                { "type": "input_text", "text": "What is this?" },
                { "type": "input_image", "image_url": "data:image/png;base64,AAAA" },
            ])
        );
        assert_eq!(items[2], assistant_text("I look."));
        assert_eq!(items[3]["arguments"], r#"{"for":"petals"}"#);
        assert_eq!(items[5], user_text("And now?"));
        assert_eq!(items.len(), 6);
    }

    #[test]
    fn a_call_that_arrives_is_the_item_of_a_request() {
        let arrived = json!({
            "id": "item_1",
            "type": "function_call",
            "status": "completed",
            "call_id": "call_1",
            "name": "look",
            "arguments": "{ \"for\" :\"petals\" }",
        });
        let call = read_call(&arrived).unwrap();
        let item = call_item(&call);
        let message = ChatMessage::new(Role::Assistant, vec![Part::Call(call)]);
        assert_eq!(items(&LlmRequest::new(vec![message])).unwrap(), [item]);
        let mut cut = arrived;
        cut["status"] = "incomplete".into();
        assert_eq!(read_call(&cut), None);
    }

    #[test]
    fn the_settings_of_a_request_are_those_of_its_response() {
        let look = ToolSpec::new("look", "Looks.", json!({ "type": "object" }));
        let request = LlmRequest {
            system: Some("Be brief.".into()),
            instructions: Some("Be kind.".into()),
            tool_choice: ToolChoice::Tool("look".into()),
            max_tokens: Some(10_000),
            effort: Some(Effort::Low),
            temperature: Some(0.5),
            ..LlmRequest::default()
        };
        let request = request.with_tools([Arc::new(look)]);
        let created = create_response(&request);
        let response = &created["response"];
        assert_eq!(response["instructions"], "Be brief.\n\nBe kind.");
        assert_eq!(
            response["tool_choice"],
            json!({ "type": "function", "name": "look" })
        );
        assert_eq!(response["max_output_tokens"], MAX_TOKENS);
        assert_eq!(response["reasoning"]["effort"], "low");
        assert_eq!(
            response["tools"][0]["parameters"],
            json!({ "type": "object" })
        );
        assert_eq!(not_sent(&request), ["temperature"]);
    }

    #[test]
    fn what_voices_do_not_have_is_refused() {
        let typed = LlmRequest::prompt("hi").with_schema(json!({ "type": "object" }));
        let native = LlmRequest::prompt("hi").with_native_tools([WebSearch::new()]);
        let document = Media {
            media_type: "application/pdf".into(),
            source: MediaSource::Base64("AAAA".into()),
            origin: None,
        };
        let document = ChatMessage::new(Role::User, vec![Part::Media(document)]);
        let document = LlmRequest::new(vec![document]);
        for (request, problem) in [
            (typed, "follow a schema"),
            (native, "tools that its provider runs"),
            (document, "application/pdf"),
        ] {
            let error = items(&request).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
