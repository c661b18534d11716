//! Streams that are cut at each of their bytes: no call that was not complete is returned, and no text that had arrived is lost.

use petalflow::tool::ToolCall;
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, end, events};
use serde_json::{Value, json};

/// An answer of a family: its events.
struct Stream {
    model: &'static str,
    events: Vec<Value>,
    /// Whether the last event is followed by `[DONE]`.
    done: bool,
}

impl Stream {
    fn frames(&self) -> Vec<String> {
        let events = self.events.iter().map(|event| format!("data: {event}\n\n"));
        let done = self.done.then(|| "data: [DONE]\n\n".to_string());
        events.chain(done).collect()
    }
}

fn chat(deltas: &[Value], finish: &str, done: bool) -> Stream {
    let piece = |delta: &Value| json!({"choices": [{"delta": delta}]});
    let last = json!({"choices": [{"delta": {}, "finish_reason": finish}]});
    Stream {
        model: "openai::gpt-4o",
        events: deltas.iter().map(piece).chain([last]).collect(),
        done,
    }
}

fn chat_call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
    let function = json!({"name": name, "arguments": arguments});
    json!({"tool_calls": [{"index": index, "id": id, "function": function}]})
}

fn chat_arguments(index: u64, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
}

fn chats() -> [Stream; 4] {
    let text = json!({"content": "I lóok. "});
    [
        chat(
            &[
                text.clone(),
                json!({"content": "Now."}),
                chat_call(0, "a", "wipe", "{\"path\":"),
                chat_arguments(0, "\"/tmp\"}"),
            ],
            "tool_calls",
            true,
        ),
        chat(
            &[
                chat_call(0, "a", "wipe", "{\"n\":"),
                chat_call(1, "b", "wipe", "{\"n\":"),
                chat_arguments(0, "1}"),
                chat_arguments(1, "2}"),
            ],
            "tool_calls",
            true,
        ),
        chat(&[text, json!({"content": "Done."})], "stop", false),
        // A call without arguments is complete as soon as it begins.
        chat(
            &[
                json!({"reasoning_content": "Hm."}),
                chat_call(0, "a", "wipe", ""),
                chat_arguments(0, "{\"all\":false}"),
            ],
            "tool_calls",
            true,
        ),
    ]
}

fn responses() -> [Stream; 2] {
    let text = |text: &str| json!({"type": "response.output_text.delta", "output_index": 0, "delta": text});
    let call = json!({"type": "function_call", "id": "fc", "call_id": "a", "name": "wipe", "arguments": "{\"path\":\"/tmp\"}"});
    let mut begun = call.clone();
    begun["arguments"] = "".into();
    let pieces = ["{\"path\":", "\"/tmp\"}"].map(|piece| json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "fc", "delta": piece}));
    let begins = json!({"type": "response.output_item.added", "output_index": 1, "item": begun});
    let item = json!({"type": "response.output_item.done", "output_index": 1, "item": call});
    let message = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    let end = |output: Value| json!({"type": "response.completed", "response": {"status": "completed", "output": output}});
    let [first, second] = pieces;
    [
        Stream {
            model: "gpt-5-mini",
            events: vec![
                text("I look. "),
                begins,
                first,
                second,
                item,
                end(json!([message("I look. "), call])),
            ],
            done: false,
        },
        Stream {
            model: "gpt-5-mini",
            events: vec![text("Dó"), text("ne."), end(json!([message("Dóne.")]))],
            done: false,
        },
    ]
}

fn messages(blocks: &[(Value, Vec<Value>)], reason: &str) -> Stream {
    let mut events = vec![json!({"type": "message_start", "message": {}})];
    for (index, (block, deltas)) in blocks.iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        let deltas = deltas.iter();
        events.extend(
            deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    events.push(json!({"type": "message_stop"}));
    Stream {
        model: "claude-sonnet-4-6",
        events,
        done: false,
    }
}

fn anthropic() -> [Stream; 2] {
    let text = |text: &str| json!({"type": "text_delta", "text": text});
    let json_piece = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    let tool = |id: &str| json!({"type": "tool_use", "id": id, "name": "wipe", "input": {}});
    let written = (
        json!({"type": "text", "text": ""}),
        vec![text("I "), text("look.")],
    );
    let call = (tool("a"), vec![json_piece("{\"n\":"), json_piece("1}")]);
    let other = (tool("b"), vec![json_piece("{\"n\":2}")]);
    [
        messages(&[written, call], "tool_use"),
        messages(&[other, (tool("c"), Vec::new())], "tool_use"),
    ]
}

fn gemini() -> [Stream; 2] {
    let piece = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}]});
    let call = |n: u64| json!({"functionCall": {"name": "wipe", "args": {"n": n}}});
    let last = |parts: Value| json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let of = |events| Stream {
        model: "gemini-2.5-flash",
        events,
        done: false,
    };
    [
        of(vec![
            piece(json!([{"text": "I "}])),
            piece(json!([{"text": "lóok."}, call(1)])),
            last(json!([])),
        ]),
        of(vec![piece(json!([call(1)])), last(json!([call(2)]))]),
    ]
}

/// What a stream has returned: its text so far, and its end.
async fn read(model: &ProviderModel) -> (String, Result<LlmResponse, LlmError>) {
    let mut text = String::new();
    let mut stream = match model.stream(&LlmRequest::prompt("Delete")).await {
        Ok(stream) => stream,
        Err(error) => return (text, Err(error)),
    };
    while let Some(chunk) = stream.next().await {
        if let Delta::Text(piece) = &chunk.delta
            && !chunk.done
        {
            text.push_str(piece);
        }
        if chunk.done {
            let outcome = chunk.into_outcome();
            return (text, outcome.expect("the last chunk has an outcome"));
        }
    }
    panic!("the stream has no end")
}

/// The calls that a program would make. Ids may be generated.
fn made(response: &LlmResponse) -> Vec<(&str, &Value)> {
    let calls = response.calls();
    let calls = calls.filter(|call: &&ToolCall| call.error.is_none());
    calls.map(|call| (&*call.name, &call.arguments)).collect()
}

/// The text of events of all families.
fn text_of(frames: &[String]) -> String {
    let mut text = String::new();
    for frame in frames {
        let Ok(event) = serde_json::from_str::<Value>(&frame["data: ".len()..]) else {
            continue;
        };
        for path in ["/choices/0/delta/content", "/delta/text", "/delta"] {
            text.push_str(
                event
                    .pointer(path)
                    .and_then(Value::as_str)
                    .filter(|_| path != "/delta" || event["type"] == "response.output_text.delta")
                    .unwrap_or_default(),
            );
        }
        let parts = event.pointer("/candidates/0/content/parts");
        for part in parts.and_then(Value::as_array).into_iter().flatten() {
            text.push_str(part["text"].as_str().unwrap_or_default());
        }
    }
    text
}

/// Cuts the stream at each byte. By turns, the connection breaks off, and ends as if all had been sent.
async fn cut_everywhere(stream: Stream) {
    let frames = stream.frames();
    let whole = frames.concat();
    let bytes = whole.clone().into_bytes();
    let length = bytes.len();
    let server = Server::start(move |number, _| {
        let mut steps = vec![events()];
        let sent = &bytes[..number.min(length)];
        if !sent.is_empty() {
            let mut piece = format!("{:x}\r\n", sent.len()).into_bytes();
            piece.extend_from_slice(sent);
            piece.extend_from_slice(b"\r\n");
            steps.push(Step::Send(piece));
        }
        if number % 2 == 0 || number >= length {
            steps.push(end());
        }
        steps
    })
    .await;
    let model = ProviderModel::new(stream.model).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let mut outcomes = Vec::new();
    for _ in 0..=length {
        outcomes.push(read(&model).await);
    }
    let (full_text, full) = outcomes.pop().expect("the whole stream was read");
    let full = full.expect("the whole stream is an answer");
    assert_eq!(full_text, text_of(&frames), "{whole}");
    for (cut, (text, outcome)) in outcomes.iter().enumerate() {
        let place = format!("{} after {cut} of {length} bytes: {whole}", stream.model);
        let mut end = 0;
        let arrived = frames.iter().take_while(|frame| {
            end += frame.len();
            end <= cut
        });
        let arrived: Vec<String> = arrived.cloned().collect();
        let arrived = text_of(&arrived);
        assert!(
            text.starts_with(&arrived),
            "`{text}` lost `{arrived}`, {place}"
        );
        assert!(full_text.starts_with(text.as_str()), "`{text}`, {place}");
        if let Ok(response) = outcome {
            assert_eq!(made(response), made(&full), "{place}");
            assert_eq!(response.text(), full.text(), "{place}");
        }
    }
    let answered = outcomes.iter().filter(|(_, outcome)| outcome.is_ok());
    let last = frames.last().map_or(0, String::len);
    let before = frames.iter().rev().nth(1).map_or(0, String::len);
    // Only what comes after the reason of the end may be missing.
    assert!(answered.count() <= last + before + 1, "{whole}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_at_any_byte_makes_no_call_and_loses_no_text() {
    let streams = chats()
        .into_iter()
        .chain(responses())
        .chain(anthropic())
        .chain(gemini());
    let streams = streams.map(|stream| tokio::spawn(cut_everywhere(stream)));
    let streams: Vec<_> = streams.collect();
    assert_eq!(streams.len(), 10);
    for stream in streams {
        if let Err(error) = stream.await {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}
