//! Whole agents with each of the four wire families, in the words of the providers' documents, streamed and not: parallel calls
//! with reasoning and the body of the request that follows, typed answers, refusals, and errors within a stream.

use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, Conversation};
use petalflow_llm::ProviderModel;
use petalflow_llm::response::FinishReason;
use petalflow_llm_test_support::server::{self, Server, Step, chunk, end, events};
use petalflow_test_support::assert_contains;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::kit::{failure, results};

/// An answer of a provider: whole, and as the events of a stream.
#[derive(Clone)]
struct Answer {
    whole: Value,
    streamed: Vec<Value>,
}

impl Answer {
    /// Gemini's chunks have the form of a whole answer.
    fn of(whole: Value) -> Self {
        let streamed = vec![whole.clone()];
        Answer { whole, streamed }
    }

    fn steps(&self, streamed: bool) -> Vec<Step> {
        if !streamed {
            return server::answer("200 OK", "application/json", &self.whole.to_string());
        }
        let pieces = self.streamed.iter();
        let pieces = pieces.map(|event| chunk(&format!("data: {event}\n\n")));
        [events()]
            .into_iter()
            .chain(pieces)
            .chain([end()])
            .collect()
    }
}

/// A server that gives these answers, one after the other, and a client for it.
async fn provider(model: &str, answers: Vec<Answer>, streamed: bool) -> (Server, ProviderModel) {
    let server = Server::start(move |number, _| {
        let answer = answers.get(number).expect("a request too many");
        answer.steps(streamed)
    })
    .await;
    let model = ProviderModel::new(model).unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    (server, model)
}

/// The bodies that were sent, without the fields that ask for a stream.
fn bodies(server: &Server) -> Vec<Value> {
    let requests = server.requests().into_iter().map(|mut sent| {
        let fields = sent.body.as_object_mut().unwrap();
        fields.remove("stream");
        fields.remove("stream_options");
        sent.body
    });
    requests.collect()
}

fn agent(model: ProviderModel, streamed: bool) -> Agent {
    let agent = Agent::new(model).request(|request| request.max_tokens = Some(2_048));
    if streamed { agent.streaming() } else { agent }
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"location": {"type": "string"}},
        "required": ["location"],
        "additionalProperties": false,
    })
}

fn weather() -> FuncTool {
    let spec = ToolSpec::new("get_weather", "Get the current weather", parameters());
    FuncTool::untyped(spec, |arguments, _| async move {
        let location = arguments["location"].as_str().unwrap_or_default();
        Ok(json!(format!("sunny in {location}")))
    })
}

/// A turn with two calls at once: the body of the second request, and the answer.
async fn parallel_calls(model: &str, calls: Answer, says: Answer, second: Value) {
    for streamed in [false, true] {
        let answers = vec![calls.clone(), says.clone()];
        let (server, client) = provider(model, answers, streamed).await;
        let agent = agent(client, streamed).tool(weather());
        let talk = agent.run("Paris and Lyon?").await.unwrap();
        assert_eq!(results(&talk), ["sunny in Paris", "sunny in Lyon"]);
        assert_eq!(talk.answer(), "Sunny.");
        assert_eq!(talk.events.len(), 4);
        let sent = bodies(&server);
        assert_eq!(sent[1], second, "{model} streamed: {streamed}");
    }
}

fn chat_call(id: &str, location: &str) -> Value {
    let arguments = json!({ "location": location }).to_string();
    json!({"id": id, "type": "function", "function": {"name": "get_weather", "arguments": arguments}})
}

fn chat(message: Value, reason: &str) -> Answer {
    let whole =
        json!({"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": reason}]});
    let mut delta = message;
    for (index, call) in delta["tool_calls"]
        .as_array_mut()
        .into_iter()
        .flatten()
        .enumerate()
    {
        call["index"] = index.into();
    }
    let streamed = vec![
        json!({"choices": [{"index": 0, "delta": delta}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
    ];
    Answer { whole, streamed }
}

fn responses(status: &str, output: Value) -> Answer {
    let mut streamed = Vec::new();
    for (index, item) in output.as_array().unwrap().iter().enumerate() {
        streamed.push(json!({"type": "response.output_item.added", "output_index": index, "item": {"type": item["type"], "call_id": item["call_id"], "name": item["name"], "arguments": "", "summary": [], "content": []}}));
        if let Some(arguments) = item["arguments"].as_str() {
            streamed.push(json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}));
        }
        for content in item["content"].as_array().into_iter().flatten() {
            for (kind, event) in [("text", "output_text"), ("refusal", "refusal")] {
                if let Some(text) = content[kind].as_str() {
                    streamed.push(json!({"type": format!("response.{event}.delta"), "output_index": index, "content_index": 0, "delta": text}));
                }
            }
        }
        streamed.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let whole = json!({"id": "r", "status": status, "model": "gpt-5", "output": output});
    streamed.push(json!({"type": format!("response.{status}"), "response": whole}));
    Answer { whole, streamed }
}

fn responses_message(content: Value) -> Value {
    json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [content]}])
}

fn messages(blocks: Value, reason: &str) -> Answer {
    let whole = json!({"id": "m", "role": "assistant", "content": blocks, "stop_reason": reason});
    let mut streamed =
        vec![json!({"type": "message_start", "message": {"id": "m", "content": []}})];
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let (empty, deltas) = match block["type"].as_str().unwrap() {
            "thinking" => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ],
            ),
            "text" => (
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": block["text"]})],
            ),
            _ => (
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
                vec![
                    json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}),
                ],
            ),
        };
        streamed
            .push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        let deltas = deltas.into_iter();
        streamed.extend(
            deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        streamed.push(json!({"type": "content_block_stop", "index": index}));
    }
    streamed.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}}));
    streamed.push(json!({"type": "message_stop"}));
    Answer { whole, streamed }
}

fn gemini(parts: Value, reason: &str) -> Answer {
    Answer::of(
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}]}),
    )
}

#[tokio::test]
async fn parallel_calls_of_the_chat_completions() {
    let calls = json!([chat_call("call_1", "Paris"), chat_call("call_2", "Lyon")]);
    let first = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let second = json!({
        "model": "gpt-4o",
        "max_tokens": 2048,
        "messages": [
            {"role": "user", "content": "Paris and Lyon?"},
            {"role": "assistant", "content": "", "tool_calls": calls},
            {"role": "tool", "tool_call_id": "call_1", "content": "sunny in Paris"},
            {"role": "tool", "tool_call_id": "call_2", "content": "sunny in Lyon"},
        ],
        "tools": [{"type": "function", "function": {
            "name": "get_weather",
            "description": "Get the current weather",
            "parameters": parameters(),
            "strict": true,
        }}],
    });
    let last = chat(json!({"role": "assistant", "content": "Sunny."}), "stop");
    parallel_calls("gpt-4o", chat(first, "tool_calls"), last, second).await;
}

#[tokio::test]
async fn parallel_calls_of_the_responses() {
    let call = |id: &str, location: &str| {
        let arguments = json!({ "location": location }).to_string();
        json!({"type": "function_call", "call_id": id, "name": "get_weather", "arguments": arguments})
    };
    let reasoning = json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAAAABo=="});
    let (paris, lyon) = (call("call_1", "Paris"), call("call_2", "Lyon"));
    let second = json!({
        "model": "gpt-5",
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"summary": "auto"},
        "max_output_tokens": 2048,
        "tools": [{
            "type": "function",
            "name": "get_weather",
            "description": "Get the current weather",
            "parameters": parameters(),
            "strict": true,
        }],
        "input": [
            {"role": "user", "content": "Paris and Lyon?"},
            reasoning,
            paris,
            lyon,
            {"type": "function_call_output", "call_id": "call_1", "output": "sunny in Paris"},
            {"type": "function_call_output", "call_id": "call_2", "output": "sunny in Lyon"},
        ],
    });
    let calls = responses("completed", json!([reasoning, paris, lyon]));
    let text = json!({"type": "output_text", "text": "Sunny.", "annotations": []});
    let says = responses("completed", responses_message(text));
    parallel_calls("gpt-5", calls, says, second).await;
}

#[tokio::test]
async fn parallel_calls_of_the_messages() {
    let blocks = json!([
        {"type": "thinking", "thinking": "A tool knows.", "signature": "EqQBCgIYAhIM=="},
        {"type": "text", "text": "I'll look."},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"location": "Paris"}},
        {"type": "tool_use", "id": "toolu_2", "name": "get_weather", "input": {"location": "Lyon"}},
    ]);
    let second = json!({
        "model": "claude-sonnet-4-6",
        "max_tokens": 2048,
        "tools": [{
            "name": "get_weather",
            "description": "Get the current weather",
            "input_schema": parameters(),
            "strict": true,
        }],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": "Paris and Lyon?"},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny in Paris"},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "sunny in Lyon"},
            ]},
        ],
    });
    let says = messages(json!([{"type": "text", "text": "Sunny."}]), "end_turn");
    let calls = messages(blocks, "tool_use");
    parallel_calls("claude-sonnet-4-6", calls, says, second).await;
}

/// Removes the ids, as the models of Gemini that give none.
fn remove_ids(parts: &mut Value) {
    for part in parts.as_array_mut().unwrap() {
        for inner in part.as_object_mut().unwrap().values_mut() {
            inner.as_object_mut().map(|inner| inner.remove("id"));
        }
    }
}

/// An id goes back to Gemini only if it came from there.
#[tokio::test]
async fn parallel_calls_of_gemini() {
    for with_ids in [true, false] {
        parallel_calls_of_gemini_with(with_ids).await;
    }
}

async fn parallel_calls_of_gemini_with(ids: bool) {
    let mut parts = json!([
        {"functionCall": {"id": "fc_1", "name": "get_weather", "args": {"location": "Paris"}}, "thoughtSignature": "CpcBAdHtim8="},
        {"functionCall": {"id": "fc_2", "name": "get_weather", "args": {"location": "Lyon"}}},
    ]);
    let result = |id: &str, text: &str| json!({"functionResponse": {"id": id, "name": "get_weather", "response": {"result": text}}});
    let mut results = json!([
        result("fc_1", "sunny in Paris"),
        result("fc_2", "sunny in Lyon")
    ]);
    if !ids {
        remove_ids(&mut parts);
        remove_ids(&mut results);
    }
    let second = json!({
        "generationConfig": {"maxOutputTokens": 2048},
        "tools": [{"functionDeclarations": [{
            "name": "get_weather",
            "description": "Get the current weather",
            "parametersJsonSchema": parameters(),
        }]}],
        "contents": [
            {"role": "user", "parts": [{"text": "Paris and Lyon?"}]},
            {"role": "model", "parts": parts},
            {"role": "user", "parts": results},
        ],
    });
    let says = gemini(json!([{"text": "Sunny."}]), "STOP");
    parallel_calls("gemini-2.5-flash", gemini(parts, "STOP"), says, second).await;
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct City {
    name: String,
}

/// The same text as an answer of each family.
fn texts(text: &str) -> [(&'static str, Answer); 4] {
    let content = json!({"type": "output_text", "text": text, "annotations": []});
    [
        (
            "gpt-4o",
            chat(json!({"role": "assistant", "content": text}), "stop"),
        ),
        ("gpt-5", responses("completed", responses_message(content))),
        (
            "claude-sonnet-4-6",
            messages(json!([{"type": "text", "text": text}]), "end_turn"),
        ),
        ("gemini-2.5-flash", gemini(json!([{"text": text}]), "STOP")),
    ]
}

/// What does not fit goes back to the model; the schema is where each family documents it.
#[tokio::test]
async fn typed_answers_are_requested_and_repaired() {
    let schemas = [
        "/response_format/json_schema/schema",
        "/text/format/schema",
        "/output_config/format/schema",
        "/generationConfig/responseJsonSchema",
    ];
    let wrong = texts(r#"{"city":"Paris"}"#);
    let right = texts(r#"{"name":"Paris"}"#);
    for (((model, wrong), (_, right)), schema) in wrong.into_iter().zip(right).zip(schemas) {
        for streamed in [false, true] {
            let answers = vec![wrong.clone(), right.clone()];
            let (server, client) = provider(model, answers, streamed).await;
            let agent = agent(client, streamed).output::<City>();
            let talk = agent.run("Which city?").await.unwrap();
            let city = City {
                name: "Paris".into(),
            };
            assert_eq!(talk.output::<City>().unwrap(), city, "{model}");
            for body in bodies(&server) {
                let schema = body.pointer(schema);
                let schema = schema.unwrap_or_else(|| panic!("{model}: {body}"));
                assert_eq!(schema["required"], json!(["name"]), "{model}");
            }
            assert_contains(&bodies(&server)[1].to_string(), "missing field `name`");
        }
    }
}

/// The turn ends, and says why.
#[tokio::test]
async fn a_refusal_ends_the_turn_with_its_reason() {
    let refusal = json!({"type": "refusal", "refusal": "I cannot help."});
    let refused = json!({"role": "assistant", "content": null, "refusal": "I cannot help."});
    let claude = messages(
        json!([{"type": "text", "text": "I cannot help."}]),
        "refusal",
    );
    let cases = [
        ("gpt-4o", chat(refused, "content_filter")),
        ("gpt-5", responses("completed", responses_message(refusal))),
        ("claude-sonnet-4-6", claude),
        (
            "gemini-2.5-flash",
            gemini(json!([{"text": "I cannot help."}]), "SAFETY"),
        ),
    ];
    for (model, answer) in cases {
        for streamed in [false, true] {
            let (_server, client) = provider(model, vec![answer.clone()], streamed).await;
            let talk: Conversation = agent(client, streamed).run("How?").await.unwrap();
            assert_eq!(talk.answer(), "I cannot help.", "{model}");
            let expected = match model {
                "gemini-2.5-flash" => FinishReason::ContentFilter,
                _ => FinishReason::Refusal,
            };
            let finish = talk.events[1].finish.as_ref();
            assert_eq!(finish, Some(&expected), "{model} {streamed}");
        }
    }
}

/// An error after pieces of the answer fails the turn with the provider's words.
#[tokio::test]
async fn an_error_within_a_stream_fails_the_turn() {
    let error = json!({"error": {"message": "The engine is overloaded.", "type": "server_error", "code": 503, "status": "UNAVAILABLE"}});
    let typed = json!({"type": "error", "error": {"type": "overloaded_error", "message": "The engine is overloaded."}});
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "server_error", "message": "The engine is overloaded."}}});
    let errors = [error.clone(), failed, typed, error];
    for ((model, mut answer), error) in texts("Sun").into_iter().zip(errors) {
        // The events that end the answer are missing.
        answer.streamed.truncate(match model {
            "gpt-5" | "gpt-4o" => answer.streamed.len().min(2) - 1,
            "gemini-2.5-flash" => 1,
            _ => 3,
        });
        answer.streamed.push(error);
        let (_server, client) = provider(model, vec![answer; 20], true).await;
        let problem = failure(&agent(client, true), "Weather?").await;
        assert_contains(&problem, "The engine is overloaded.");
    }
}
