//! What a provider sends comes back to it whole, with fields that no version of this crate knows: each item of each format,
//! with a new field in each of its objects, whole and streamed.

use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, event, events};
use serde_json::{Value, json};

use super::bedrock_events;

/// A format: how it sends items, and where it is sent them back.
struct Format {
    model: &'static str,
    /// The items of an answer: one that needs no result, or a call at its end.
    items: Vec<Value>,
    whole: fn(&[Value]) -> Value,
    streamed: fn(&[Value]) -> Vec<Step>,
    /// The items in the body of the next request.
    sent: fn(&Value) -> Vec<Value>,
}

/// Adds a field that is new to the object at each place in turn. What is below these fields belongs to the program or to its
/// tools.
fn with_new_fields(item: &Value) -> Vec<Value> {
    const DATA: [&str; 4] = ["input", "args", "arguments", "x_new"];
    fn places(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.push(path.to_string());
                let fields = fields.iter().filter(|(name, _)| !DATA.contains(&&***name));
                fields.for_each(|(name, value)| places(value, &format!("{path}/{name}"), found));
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items.for_each(|(index, item)| places(item, &format!("{path}/{index}"), found));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    places(item, "", &mut found);
    let changed = found.iter().map(|path| {
        let mut item = item.clone();
        item.pointer_mut(path).unwrap()["x_new"] = json!({ "of": path, "list": [1, "z"] });
        item
    });
    changed.collect()
}

fn sse(events_sent: impl IntoIterator<Item = Value>) -> Vec<Step> {
    let pieces = events_sent.into_iter().map(|sent| event(&sent));
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

fn responses() -> Format {
    Format {
        model: "gpt-5",
        items: vec![
            json!({"type": "reasoning", "id": "rs_1", "status": "completed", "summary": [{"type": "summary_text", "text": "I look."}], "encrypted_content": "c2ln"}),
            json!({"type": "tool_search_call", "id": "ts_1", "call_id": null, "execution": "server", "arguments": {"paths": ["crm"]}}),
            json!({"type": "message", "id": "msg_1", "status": "completed", "phase": "commentary", "role": "assistant", "content": [
                {"type": "output_text", "text": "Let me ", "annotations": [{"type": "url_citation", "url": "https://example.com"}], "logprobs": []},
                {"type": "output_text", "text": "see.", "annotations": []},
            ]}),
            json!({"type": "message", "id": "msg_2", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "So:", "annotations": []}]}),
            json!({"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "call_1", "namespace": "crm", "name": "look", "arguments": "{\"at\":\"petals\"}"}),
        ],
        whole: |items| json!({"id": "r", "status": "completed", "output": items}),
        streamed: |items| {
            let mut sent = Vec::new();
            for (index, item) in items.iter().enumerate() {
                sent.push(json!({"type": "response.output_item.added", "output_index": index, "item": {"type": item["type"], "id": item["id"], "call_id": item["call_id"], "name": item["name"]}}));
                for part in item["summary"].as_array().into_iter().flatten() {
                    sent.push(json!({"type": "response.reasoning_summary_text.delta", "output_index": index, "delta": part["text"]}));
                }
                for (part, content) in item["content"].as_array().into_iter().flatten().enumerate()
                {
                    if content["type"] == "reasoning_text" {
                        sent.push(json!({"type": "response.reasoning_text.delta", "output_index": index, "content_index": part, "delta": content["text"]}));
                        continue;
                    }
                    let (first, second) = content["text"].as_str().unwrap().split_at(2);
                    for piece in [first, second] {
                        sent.push(json!({"type": "response.output_text.delta", "output_index": index, "content_index": part, "item_id": item["id"], "delta": piece}));
                    }
                    sent.push(json!({"type": "response.content_part.done", "output_index": index, "content_index": part, "item_id": item["id"], "part": content}));
                }
                if let Some(arguments) = item["arguments"].as_str() {
                    sent.push(json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}));
                }
                sent.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
            }
            sent.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}));
            sse(sent)
        },
        sent: |body| {
            let items = body["input"].as_array().unwrap();
            items[1..items.len() - 1].to_vec()
        },
    }
}

fn messages() -> Format {
    Format {
        model: "claude-sonnet-4-6",
        items: vec![
            json!({"type": "thinking", "thinking": "I look.", "signature": "c2ln"}),
            json!({"type": "redacted_thinking", "data": "aGlk"}),
            json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "petals"}}),
            json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"type": "web_search_result", "encrypted_content": "ZW5j"}]}),
            json!({"type": "text", "text": "Let me "}),
            json!({"type": "text", "text": "see.", "citations": [{"type": "web_search_result_location", "encrypted_index": "Y2l0"}]}),
            json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "petals"}, "caller": {"type": "direct"}}),
        ],
        whole: |items| json!({"id": "m", "content": items, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 5}}),
        streamed: |items| {
            let mut sent = vec![
                json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
            ];
            for (index, block) in items.iter().enumerate() {
                let mut start = block.clone();
                let mut pieces = Vec::new();
                for (field, kind) in [
                    ("thinking", "thinking_delta"),
                    ("signature", "signature_delta"),
                    ("text", "text_delta"),
                ] {
                    if start.get(field).is_some() {
                        pieces.push(json!({"type": kind, field: start[field].take()}));
                        start[field] = "".into();
                    }
                }
                for citation in block["citations"].as_array().into_iter().flatten() {
                    pieces.push(json!({"type": "citations_delta", "citation": citation}));
                }
                if block.get("citations").is_some() {
                    start["citations"] = json!([]);
                }
                if block.get("input").is_some() {
                    let text = start["input"].take().to_string();
                    start["input"] = json!({});
                    let (first, second) = text.split_at(3);
                    pieces.extend(
                        [first, second].map(
                            |piece| json!({"type": "input_json_delta", "partial_json": piece}),
                        ),
                    );
                }
                sent.push(
                    json!({"type": "content_block_start", "index": index, "content_block": start}),
                );
                sent.extend(pieces.iter().map(
                    |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
                ));
                sent.push(json!({"type": "content_block_stop", "index": index}));
            }
            sent.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}}));
            sent.push(json!({"type": "message_stop"}));
            sse(sent)
        },
        sent: |body| body["messages"][1]["content"].as_array().unwrap().clone(),
    }
}

fn gemini() -> Format {
    Format {
        model: "gemini-2.5-flash",
        items: vec![
            json!({"text": "I look.", "thought": true, "thoughtSignature": "VEg="}),
            json!({"executableCode": {"id": "c1", "language": "PYTHON", "code": "1 + 1"}, "thoughtSignature": "Q08="}),
            json!({"codeExecutionResult": {"id": "c1", "outcome": "OUTCOME_OK", "output": "2"}}),
            json!({"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH"}}),
            json!({"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH"}}),
            json!({"inlineData": {"mimeType": "image/png", "data": "AAAA"}}),
            json!({"text": "Let me see.", "thoughtSignature": "VEU="}),
            json!({"text": "", "thoughtSignature": "RU0="}),
            json!({"functionCall": {"id": "f1", "name": "look", "args": {"at": "petals"}}, "thoughtSignature": "U0k="}),
        ],
        whole: |items| json!({"candidates": [{"content": {"role": "model", "parts": items}, "finishReason": "STOP"}]}),
        streamed: |items| {
            let chunks = items.iter();
            let chunks = chunks.map(|part| json!({"candidates": [{"content": {"parts": [part]}}]}));
            let end = json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]});
            sse(chunks.chain([end]))
        },
        sent: |body| body["contents"][1]["parts"].as_array().unwrap().clone(),
    }
}

/// The items are the message, and its calls.
fn chat() -> Format {
    Format {
        model: "openai::gpt-4o",
        items: vec![
            json!({"role": "assistant", "content": "Let me see.", "annotations": [{"type": "url_citation", "url_citation": {"url": "https://example.com"}}],
                "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"petals\"}"}, "extra_content": {"google": {"thought_signature": "U0k="}}}]}),
        ],
        whole: |items| json!({"choices": [{"index": 0, "message": items[0], "finish_reason": "tool_calls"}]}),
        streamed: |items| {
            let mut first = items[0].clone();
            let mut call = first["tool_calls"][0].take();
            call["index"] = json!(0);
            first.as_object_mut().unwrap().remove("tool_calls");
            let arguments = call["function"]["arguments"].take();
            let rest = json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]});
            let pieces = [first, json!({"tool_calls": [call]}), rest];
            let pieces = pieces.map(|delta| json!({"choices": [{"index": 0, "delta": delta}]}));
            let end =
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
            sse(pieces.into_iter().chain([end]))
        },
        sent: |body| vec![body["messages"][1].clone()],
    }
}

fn converse() -> Format {
    Format {
        model: "bedrock",
        items: vec![
            json!({"reasoningContent": {"reasoningText": {"text": "I look.", "signature": "c2ln"}}}),
            json!({"reasoningContent": {"redactedContent": "aGlk"}}),
            json!({"toolUse": {"toolUseId": "s1", "name": "nova_grounding", "type": "server_tool_use", "input": {"q": "petals"}}}),
            json!({"toolResult": {"toolUseId": "s1", "type": "nova_grounding_result", "content": [{"json": {"r": 1}}]}}),
            json!({"text": "Let me see."}),
            json!({"citationsContent": {"content": [{"text": "Petals are leaves."}], "citations": [{"title": "Botany", "location": {"documentPage": {"documentIndex": 0, "start": 1, "end": 2}}}]}}),
            json!({"toolUse": {"toolUseId": "tooluse_1", "name": "look", "input": {"at": "petals"}}}),
        ],
        whole: |items| json!({"output": {"message": {"role": "assistant", "content": items}}, "stopReason": "tool_use"}),
        streamed: |items| {
            let mut frames = Vec::new();
            for (index, block) in items.iter().enumerate() {
                frames.extend(bedrock_events::block(index, block));
            }
            frames.push(bedrock_events::message_stop("tool_use"));
            bedrock_events::steps(&frames)
        },
        sent: |body| body["messages"][1]["content"].as_array().unwrap().clone(),
    }
}

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = match name {
        "bedrock" => ProviderModel::bedrock(
            "eu-central-1",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        name => ProviderModel::new(name).unwrap(),
    };
    let address = server.url(if name == "bedrock" { "" } else { "/v1" });
    model.with_base_url(address).with_key("k").without_retry()
}

/// What is sent back of these items, after they were stored.
async fn round_trip(format: &Format, items: &[Value], streamed: bool) -> Vec<Value> {
    let steps = if streamed {
        (format.streamed)(items)
    } else {
        answer(
            "200 OK",
            "application/json",
            &(format.whole)(items).to_string(),
        )
    };
    let server = Server::always(steps).await;
    let model = model(format.model, &server);
    let tool = ToolSpec::new("look", "Looks.", json!({"type": "object"}));
    let request = LlmRequest::new(vec![ChatMessage::user("What is it?")]).with_tools([tool.into()]);
    let response = if streamed {
        model.stream(&request).await.unwrap().into_response().await
    } else {
        model.complete(&request).await
    };
    let response = response.unwrap();
    let results = response.calls().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: json!("a leaf"),
        ..ToolResult::default()
    });
    let results = ChatMessage::results(results);
    let mut messages = request.messages_with(&response);
    messages.push(results);
    let stored = serde_json::to_string(&messages).unwrap();
    let messages: Vec<ChatMessage> = serde_json::from_str(&stored).unwrap();
    let next = LlmRequest {
        messages: messages.into(),
        ..request
    };
    model.complete(&next).await.ok();
    (format.sent)(&server.requests().remove(1).body)
}

/// The item as it may come back: without what is null, and arguments in one form.
fn normal(item: &Value) -> Value {
    let mut item = item.clone();
    if let Value::Object(fields) = &mut item {
        fields.retain(|_, value| !value.is_null());
        // An empty list of citations is what a stream begins with.
        if fields.get("citations") == Some(&json!([])) {
            fields.remove("citations");
        }
    }
    item
}

async fn check(format: Format, streamed: bool) {
    let mut tried = 0;
    for (index, item) in format.items.iter().enumerate() {
        let changed = with_new_fields(item);
        for changed in [vec![item.clone()], changed].concat() {
            let mut items = format.items.clone();
            items[index] = changed;
            let sent = round_trip(&format, &items, streamed).await;
            let sent: Vec<_> = sent.iter().map(normal).collect();
            let items: Vec<_> = items.iter().map(normal).collect();
            assert_eq!(
                sent, items,
                "{}, streamed: {streamed}, item {index}",
                format.model
            );
            tried += 1;
        }
    }
    assert!(tried > format.items.len(), "{}", format.model);
}

#[tokio::test]
async fn f42_an_item_comes_back_with_the_fields_that_are_not_known() {
    for format in [responses, messages, gemini, chat, converse] {
        check(format(), false).await;
    }
}

#[tokio::test]
async fn f42_a_streamed_item_comes_back_with_the_fields_that_are_not_known() {
    for format in [responses, messages, gemini, chat] {
        check(format(), true).await;
    }
    // In its streams, texts and pieces of reasoning have no object of their own.
    let mut format = converse();
    let sent = round_trip(&format, &format.items, true).await;
    assert_eq!(sent, format.items);
    let is_call = |item: &Value| item.get("toolUse").is_some() || item.get("toolResult").is_some();
    format.items.retain(is_call);
    assert_eq!(format.items.len(), 3);
    check(format, true).await;
}

/// A message of a model of Mistral.
fn mistral() -> Format {
    Format {
        model: "mistral::magistral-medium-latest",
        items: vec![json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "I look."}]},
            {"type": "text", "text": "Petals are leaves"},
            {"type": "reference", "reference_ids": [1, 2]},
            {"type": "text", "text": "."},
            {"type": "x_new", "of": {"a": 1}},
        ]})],
        whole: |items| json!({"choices": [{"index": 0, "message": items[0], "finish_reason": "stop"}]}),
        streamed: |items| {
            let pieces = items[0]["content"].as_array().unwrap().iter();
            let pieces = pieces.map(|piece| json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": [piece]}}]}));
            let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
            sse(pieces.chain([end]))
        },
        sent: |body| vec![body["messages"][1].clone()],
    }
}

#[tokio::test]
async fn f42_chunks_that_are_neither_text_nor_reasoning_come_back_in_their_places() {
    for streamed in [false, true] {
        let format = mistral();
        let sent = round_trip(&format, &format.items, streamed).await;
        assert_eq!(sent, format.items, "streamed: {streamed}");
        // Another server is sent its texts.
        let format = Format {
            model: "openai::gpt-4o",
            ..mistral()
        };
        let sent = round_trip(&format, &format.items, streamed).await;
        assert_eq!(
            sent,
            [json!({"role": "assistant", "content": "Petals are leaves."})]
        );
    }
}

#[tokio::test]
async fn f42_reasoning_that_is_not_encrypted_comes_back_if_it_is_in_clear() {
    let call = responses().items.pop().unwrap();
    let clear = json!({"type": "reasoning", "id": "rs_1", "status": "completed", "summary": [{"type": "summary_text", "text": "I look."}], "content": [{"type": "reasoning_text", "text": "Let me look."}]});
    let mut summary = clear.clone();
    summary.as_object_mut().unwrap().remove("content");
    for streamed in [false, true] {
        let format = responses();
        let items = [clear.clone(), call.clone()];
        assert_eq!(
            round_trip(&format, &items, streamed).await,
            items,
            "streamed: {streamed}"
        );
        // OpenAI would look for the rest of it by its id.
        let items = [summary.clone(), call.clone()];
        assert_eq!(
            round_trip(&format, &items, streamed).await,
            items[1..],
            "streamed: {streamed}"
        );
    }
}

/// A gateway begins the answer before the reasoning has ended.
#[tokio::test]
async fn f42_reasoning_that_ends_after_the_answer_comes_back() {
    let format = responses();
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "Let me look."}]});
    let message = format.items[3].clone();
    let steps = sse([
        json!({"type": "response.reasoning_text.delta", "output_index": 0, "delta": "Let me look."}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "item_id": "msg_2", "delta": "So:"}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
        json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}),
    ]);
    let server = Server::always(steps).await;
    let model = model(format.model, &server);
    let request = LlmRequest::new(vec![ChatMessage::user("What is it?")]);
    let response = model
        .stream(&request)
        .await
        .unwrap()
        .into_response()
        .await
        .unwrap();
    let mut messages = request.messages_with(&response);
    messages.push(ChatMessage::user("And then?"));
    model.complete(&LlmRequest::new(messages)).await.ok();
    let sent = server.requests().remove(1).body["input"].clone();
    let mut sent = sent.as_array().unwrap()[1..3].to_vec();
    sent.sort_by_key(|item| item["type"].to_string());
    assert_eq!(sent, [message, reasoning]);
}

#[tokio::test]
async fn f42_audio_without_an_id_is_not_sent_back() {
    for (audio, sent) in [
        (json!({}), None),
        (json!({"id": ""}), None),
        (
            json!({"id": "audio_1", "data": "AAAA", "transcript": "Hi."}),
            Some(json!({"id": "audio_1"})),
        ),
    ] {
        let body = json!({"choices": [{"message": {"role": "assistant", "content": "Hi.", "audio": audio}, "finish_reason": "stop"}]});
        let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
        let model = model("openai::gpt-4o", &server);
        let request = LlmRequest::new(vec![ChatMessage::user("Hello")]);
        let response = model.complete(&request).await.unwrap();
        let next = LlmRequest::new(request.messages_with(&response));
        model.complete(&next).await.unwrap();
        let message = server.requests().remove(1).body["messages"][1].clone();
        assert_eq!(message.get("audio"), sent.as_ref(), "{audio}");
    }
}

#[tokio::test]
async fn f42_a_strict_server_is_not_sent_fields_that_it_may_not_know() {
    let body = json!({"choices": [{"message": {"role": "assistant", "content": "Hi.", "channel": "final"}, "finish_reason": "stop"}]});
    for (name, is_sent) in [
        ("groq::m", false),
        ("mistral::m", false),
        ("openai::gpt-4o", true),
    ] {
        let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
        let model = model(name, &server);
        let request = LlmRequest::new(vec![ChatMessage::user("Hello")]);
        let response = model.complete(&request).await.unwrap();
        let next = LlmRequest::new(request.messages_with(&response));
        model.complete(&next).await.unwrap();
        let message = server.requests().remove(1).body["messages"][1].clone();
        assert_eq!(
            message.get("channel").is_some(),
            is_sent,
            "{name}: {message}"
        );
    }
}

/// Bytes that a test sends are one event each.
#[test]
fn f42_new_fields_are_put_into_each_object() {
    let item = json!({"a": [{"b": 1}], "input": {"c": {}}});
    let changed = with_new_fields(&item);
    assert_eq!(changed.len(), 2);
    assert!(changed[0].get("x_new").is_some() && changed[1]["a"][0].get("x_new").is_some());
    assert!(matches!(chunk("x"), Step::Send(_)));
}
