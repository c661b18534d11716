//! A turn with reasoning and a call, in the words of each provider's documents: the body of the first request, the answer
//! whole and streamed, and the body of the second request, in which the reasoning is as it came.

use std::sync::Arc;

use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel, Role};
use petalflow_llm_test_support::server::{Server, answer, chunk, end, events};
use serde_json::{Value, json};

/// What is sent and received.
struct Turn {
    model: &'static str,
    first: Value,
    whole: Value,
    streamed: Vec<Value>,
    second: Value,
}

fn tool() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"location": {"type": "string", "description": "The city, e.g. Paris"}},
        "required": ["location"],
    });
    ToolSpec::new("get_weather", "Get the current weather", parameters)
}

fn request(messages: Vec<ChatMessage>) -> LlmRequest {
    LlmRequest {
        system: Some("You are helpful.".into()),
        max_tokens: Some(2_048),
        ..LlmRequest::new(messages).with_tools([Arc::new(tool())])
    }
}

fn strict_parameters() -> Value {
    let mut parameters = tool().parameters;
    parameters["additionalProperties"] = false.into();
    parameters
}

async fn ask(model: &ProviderModel, messages: Vec<ChatMessage>, streamed: bool) -> LlmResponse {
    let request = request(messages);
    if streamed {
        let stream = model.stream(&request).await.unwrap();
        stream.into_response().await.unwrap()
    } else {
        model.complete(&request).await.unwrap()
    }
}

async fn check(turn: Turn) {
    for streamed in [false, true] {
        let steps = if streamed {
            let pieces = turn
                .streamed
                .iter()
                .map(|event| chunk(&format!("data: {event}\n\n")));
            [events()]
                .into_iter()
                .chain(pieces)
                .chain([end()])
                .collect()
        } else {
            answer("200 OK", "application/json", &turn.whole.to_string())
        };
        let server = Server::always(steps).await;
        let model = ProviderModel::new(turn.model).unwrap();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let mut messages = vec![ChatMessage::user("What is the weather in Paris?")];
        let response = ask(&model, messages.clone(), streamed).await;
        let call = response.calls().next().unwrap();
        let result = ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: json!("15 degrees"),
            ..ToolResult::default()
        };
        messages.extend(response.message.clone());
        messages.push(ChatMessage::new(Role::Tool, vec![Part::Result(result)]));
        // A stored conversation is the same one.
        let stored = serde_json::to_string(&messages).unwrap();
        let messages = serde_json::from_str(&stored).unwrap();
        ask(&model, messages, streamed).await;
        for (mut sent, expected) in server
            .requests()
            .into_iter()
            .zip([&turn.first, &turn.second])
        {
            if streamed {
                let fields = sent.body.as_object_mut().unwrap();
                fields.remove("stream");
                fields.remove("stream_options");
            }
            assert_eq!(&sent.body, expected, "{} streamed: {streamed}", turn.model);
        }
    }
}

#[tokio::test]
async fn a_turn_of_the_chat_completions() {
    let tools = json!([{"type": "function", "function": {
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": strict_parameters(),
        "strict": true,
    }}]);
    let system = json!({"role": "system", "content": "You are helpful."});
    let user = json!({"role": "user", "content": "What is the weather in Paris?"});
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"location\":\"Paris\"}"}});
    let mut started = call.clone();
    started["index"] = 0.into();
    check(Turn {
        model: "gpt-4o",
        first: json!({"model": "gpt-4o", "max_tokens": 2048, "messages": [system, user], "tools": tools}),
        whole: json!({"id": "c", "model": "gpt-4o", "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": null, "tool_calls": [call]},
            "finish_reason": "tool_calls",
        }]}),
        streamed: vec![
            json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null, "tool_calls": [started]}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        ],
        second: json!({"model": "gpt-4o", "max_tokens": 2048, "tools": tools, "messages": [
            system,
            user,
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "15 degrees"},
        ]}),
    })
    .await;
}

/// The reasoning of such a provider goes back as text in a field.
#[tokio::test]
async fn a_turn_of_a_compatible_provider_that_reasons() {
    let tools = json!([{"type": "function", "function": {
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": tool().parameters,
    }}]);
    let system = json!({"role": "system", "content": "You are helpful."});
    let user = json!({"role": "user", "content": "What is the weather in Paris?"});
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{\"location\":\"Paris\"}"}});
    check(Turn {
        model: "deepseek::deepseek-chat",
        first: json!({"model": "deepseek-chat", "max_tokens": 2048, "messages": [system, user], "tools": tools}),
        whole: json!({"choices": [{
            "message": {"content": "", "reasoning_content": "A tool knows.", "tool_calls": [call]},
            "finish_reason": "tool_calls",
        }]}),
        streamed: vec![
            json!({"choices": [{"delta": {"reasoning_content": "A tool "}}]}),
            json!({"choices": [{"delta": {"reasoning_content": "knows."}}]}),
            json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}),
        ],
        second: json!({"model": "deepseek-chat", "max_tokens": 2048, "tools": tools, "messages": [
            system,
            user,
            {"role": "assistant", "content": "", "reasoning_content": "A tool knows.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "15 degrees"},
        ]}),
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_the_responses() {
    let tools = json!([{
        "type": "function",
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": strict_parameters(),
        "strict": true,
    }]);
    let body = |input: Value| {
        json!({
            "model": "gpt-5",
            "store": false,
            "instructions": "You are helpful.",
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"summary": "auto"},
            "max_output_tokens": 2048,
            "tools": tools,
            "input": input,
        })
    };
    let user = json!({"role": "user", "content": "What is the weather in Paris?"});
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo=="});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": "{\"location\":\"Paris\"}", "status": "completed"});
    let response =
        json!({"id": "r", "status": "completed", "model": "gpt-5", "output": [reasoning, call]});
    check(Turn {
        model: "gpt-5",
        first: body(json!([user])),
        whole: response.clone(),
        streamed: vec![
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": ""}}),
            json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{\"location\":\"Paris\"}"}),
            json!({"type": "response.output_item.done", "output_index": 1, "item": call}),
            json!({"type": "response.completed", "response": response}),
        ],
        second: body(json!([
            user,
            reasoning,
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": "15 degrees"},
        ])),
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_the_messages() {
    let tools = json!([{
        "name": "get_weather",
        "description": "Get the current weather",
        "input_schema": strict_parameters(),
        "strict": true,
    }]);
    let body = |messages: Value| {
        json!({
            "model": "claude-sonnet-4-6",
            "max_tokens": 2048,
            "system": "You are helpful.",
            "tools": tools,
            "tool_choice": {"type": "auto"},
            "messages": messages,
        })
    };
    let user = json!({"role": "user", "content": "What is the weather in Paris?"});
    let blocks = json!([
        {"type": "thinking", "thinking": "A tool knows.", "signature": "EqQBCgIYAhIM=="},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy="},
        {"type": "text", "text": "I'll look."},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"location": "Paris"}},
    ]);
    let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    check(Turn {
        model: "claude-sonnet-4-6",
        first: body(json!([user])),
        whole: json!({"id": "m", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}),
        streamed: vec![
            json!({"type": "message_start", "message": {"id": "m", "content": []}}),
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "A tool "})),
            delta(0, json!({"type": "thinking_delta", "thinking": "knows."})),
            delta(0, json!({"type": "signature_delta", "signature": "EqQBCgIYAhIM=="})),
            stop(0),
            start(1, json!({"type": "redacted_thinking", "data": "EmwKAhgBEgy="})),
            stop(1),
            start(2, json!({"type": "text", "text": ""})),
            delta(2, json!({"type": "text_delta", "text": "I'll look."})),
            stop(2),
            start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}})),
            delta(3, json!({"type": "input_json_delta", "partial_json": "{\"location\": \"Paris\"}"})),
            stop(3),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
            json!({"type": "message_stop"}),
        ],
        second: body(json!([
            user,
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "15 degrees"}]},
        ])),
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_gemini() {
    let body = |contents: Value| {
        json!({
            "systemInstruction": {"parts": [{"text": "You are helpful."}]},
            "tools": [{"functionDeclarations": [{
                "name": "get_weather",
                "description": "Get the current weather",
                "parametersJsonSchema": tool().parameters,
            }]}],
            "generationConfig": {"maxOutputTokens": 2048},
            "contents": contents,
        })
    };
    let user = json!({"role": "user", "parts": [{"text": "What is the weather in Paris?"}]});
    let parts = json!([
        {"text": "I'll look.", "thoughtSignature": "CiQB0e1="},
        {"functionCall": {"name": "get_weather", "args": {"location": "Paris"}}, "thoughtSignature": "CpcBAdHtim8="},
        {"functionCall": {"name": "get_weather", "args": {"location": "Lyon"}}},
        {"text": "", "thoughtSignature": "CsEBAdHtim9="},
    ]);
    let chunk = |parts: &[Value], reason: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]});
    let all = parts.as_array().unwrap();
    check(Turn {
        model: "gemini-2.5-flash",
        first: body(json!([user])),
        whole: chunk(all, "STOP".into()),
        streamed: vec![
            chunk(&[json!({"text": "Hm.", "thought": true})], Value::Null),
            chunk(&all[..2], Value::Null),
            chunk(&all[2..3], Value::Null),
            chunk(&all[3..], "STOP".into()),
        ],
        second: body(json!([
            user,
            {"role": "model", "parts": parts},
            {"role": "user", "parts": [{"functionResponse": {"name": "get_weather", "response": {"result": "15 degrees"}}},
                {"functionResponse": {"name": "get_weather", "response": {"status": "pending"}}},
            ]},
        ])),
    })
    .await;
}
