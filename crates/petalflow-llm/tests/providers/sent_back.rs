//! Recorded answers of providers, sent back with the request of the next turn: each field of each item is in it, except those
//! that the provider does not take.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use petalflow::tool::ToolResult;
use petalflow_llm::request::OnPause;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, LlmRequest, ProviderModel};
use petalflow_llm_test_support::httprr::{self, Pair, Request, Response};
use petalflow_llm_test_support::server::{self, Server};
use serde_json::{Value, json};

/// A format: how a request is recognized, what an answer consists of, and where it is sent back.
struct Format {
    /// The end of the path.
    path: &'static str,
    /// The model whose requests have this format. The recording has its name.
    model: fn(&Request) -> Option<String>,
    base: &'static str,
    /// The items of an answer that arrived whole.
    whole: fn(&Value) -> Vec<Value>,
    /// The items of an answer that arrived as these events.
    joined: fn(&[Value]) -> Vec<Value>,
    /// The items of the answer in the body of the next request.
    sent: fn(&Value) -> Vec<Value>,
    /// What kind of item it is.
    kind: fn(&Value) -> String,
    /// What a request may not have, or what has no effect in one: a provider (empty: each), the start of a `kind/path`, and why.
    not_taken: &'static [(&'static str, &'static str, &'static str)],
}

const FORMATS: [Format; 5] = [
    Format {
        path: ":generateContent",
        model: gemini_model,
        base: "/v1beta",
        whole: |body| list(body, "/candidates/0/content/parts"),
        joined: gemini_parts,
        sent: |body| list(body, "/contents/1/parts"),
        kind: gemini_kind,
        not_taken: &[(
            "",
            "thought",
            "a summary without a signature: the model does not read it",
        )],
    },
    Format {
        path: "/responses",
        model: |request| named("openai_resp", request),
        base: "/v1",
        whole: |body| list(body, "/output"),
        joined: finished_items,
        sent: |body| after_question(body, "/input", "function_call_output"),
        kind: typed,
        not_taken: &[
            (
                "",
                "stored reasoning",
                "OpenAI looks for it by its id, and has not stored it",
            ),
            ("", "blank", BLANK),
        ],
    },
    Format {
        path: "/messages",
        model: |request| named("anthropic", request),
        base: "/v1",
        whole: |body| list(body, "/content"),
        joined: blocks,
        sent: |body| content(body),
        kind: typed,
        not_taken: &[("", "blank", BLANK)],
    },
    Format {
        path: "/chat/completions",
        model: |request| {
            const PROVIDERS: [(&str, &str); 9] = [
                ("api.openai.com", "openai"),
                ("api.groq.com", "groq"),
                ("api.mistral.ai", "mistral"),
                ("openrouter.ai", "open_router"),
                ("api.deepseek.com", "deepseek"),
                ("api.cerebras.ai", "cerebras"),
                ("api.x.ai", "xai"),
                ("api.z.ai", "zai"),
                ("router.huggingface.co", "hugging_face"),
            ];
            let known = PROVIDERS.iter().find(|(host, _)| *host == request.host);
            named(known.map_or("vllm", |(_, name)| *name), request)
        },
        base: "/v1",
        whole: |body| {
            body.pointer("/choices/0/message")
                .cloned()
                .into_iter()
                .collect()
        },
        joined: chat_message,
        sent: |body| list(body, "/messages")[1..2].to_vec(),
        kind: |_| "message".to_string(),
        not_taken: &[
            (
                "",
                "message/tool_calls/*/index",
                "the number of the call in its stream",
            ),
            (
                "",
                "message/audio",
                "audio is named by its id, and an empty one is none",
            ),
            (
                "open_router",
                "message/reasoning",
                "`reasoning_details` have it",
            ),
            ("groq", "message/reasoning", UNKNOWN),
            ("groq", "message/executed_tools", UNKNOWN),
            ("groq", "message/channel", UNKNOWN),
            ("cerebras", "message/reasoning", UNKNOWN),
        ],
    },
    Format {
        path: "/converse",
        model: |request| {
            let name = request.path.split('/').rev().nth(1)?;
            Some(name.replace("%3A", ":"))
        },
        base: "",
        whole: |body| list(body, "/output/message/content"),
        joined: |_| Vec::new(),
        sent: |body| list(body, "/messages/1/content"),
        kind: converse_kind,
        not_taken: &[
            (
                "",
                "unsigned reasoning",
                "models of Anthropic and DeepSeek refuse it",
            ),
            ("", "blank", BLANK),
        ],
    },
];

const BLANK: &str = "a text without words is refused, or has no effect";
const UNKNOWN: &str = "the server refuses fields of a message that it does not know";

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The type of an item, or why it is not sent.
fn typed(item: &Value) -> String {
    let has = |field: &str| item.get(field).is_some_and(|field| !is_empty(field));
    let content = list(item, "/content");
    let is_blank_message =
        !content.is_empty() && content.iter().all(|part| is_blank(&part["text"]));
    match item["type"].as_str().unwrap_or_default() {
        "text" if is_blank(&item["text"]) => "blank",
        "message" if is_blank_message => "blank",
        "reasoning" if !has("encrypted_content") && !has("content") => "stored reasoning",
        kind => kind,
    }
    .to_string()
}

fn converse_kind(block: &Value) -> String {
    let words = &block["reasoningContent"]["reasoningText"];
    if !is_empty(words) && words.get("signature").is_none() {
        return "unsigned reasoning".to_string();
    }
    let name = block.as_object().and_then(|block| block.keys().next());
    match name {
        Some(name) if name == "text" && is_blank(&block["text"]) => "blank".to_string(),
        name => name.cloned().unwrap_or_default(),
    }
}

fn gemini_model(request: &Request) -> Option<String> {
    let (name, _) = request.path.split_once("/models/")?.1.split_once(':')?;
    Some(format!("gemini::{name}"))
}

/// The content of the second message. A single text may be text.
fn content(body: &Value) -> Vec<Value> {
    match &body["messages"][1]["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        _ => list(body, "/messages/1/content"),
    }
}

fn named(provider: &str, request: &Request) -> Option<String> {
    Some(format!("{provider}::{}", request.body["model"].as_str()?))
}

fn list(value: &Value, path: &str) -> Vec<Value> {
    value
        .pointer(path)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// The items between the question and the results or the next question.
fn after_question(body: &Value, path: &str, result: &str) -> Vec<Value> {
    let items = list(body, path).into_iter().skip(1);
    items
        .take_while(|item| item["type"] != result && item["role"] != "user")
        .collect()
}

/// The items of OpenAI's events, each as it ended. An encrypted text is another one in the last event, which repeats all.
fn finished_items(events: &[Value]) -> Vec<Value> {
    let ended = events
        .iter()
        .filter(|event| event["type"] == "response.output_item.done");
    let mut items: BTreeMap<_, _> = ended
        .map(|event| (event["output_index"].as_u64(), event["item"].clone()))
        .collect();
    let last = events
        .iter()
        .rev()
        .find(|event| event["type"] == "response.completed");
    let all = last
        .map(|event| list(event, "/response/output"))
        .unwrap_or_default();
    for (index, item) in (0..).zip(all) {
        items.entry(Some(index)).or_insert(item);
    }
    items.into_values().collect()
}

fn gemini_kind(part: &Value) -> String {
    let fields = part.as_object().into_iter().flatten();
    let mut names = fields.map(|(name, _)| name.as_str());
    let name = names
        .find(|name| !name.starts_with("thought"))
        .unwrap_or("thoughtSignature");
    let is_thought = part["thought"] == true && part.get("thoughtSignature").is_none();
    if is_thought { "thought" } else { name }.to_string()
}

/// Texts next to each other are one.
fn gemini_parts(events: &[Value]) -> Vec<Value> {
    let mut parts: Vec<Value> = Vec::new();
    for part in events
        .iter()
        .flat_map(|event| list(event, "/candidates/0/content/parts"))
    {
        let is_text =
            |part: &Value| part.get("text").is_some() && part.get("thoughtSignature").is_none();
        match parts.last_mut() {
            Some(last) if is_text(last) && is_text(&part) && last["thought"] == part["thought"] => {
                let text = [&last["text"], &part["text"]].map(|text| text.as_str().unwrap());
                last["text"] = text.concat().into();
            }
            _ if part == json!({"text": ""}) => {}
            _ => parts.push(part),
        }
    }
    parts
}

/// The blocks of Anthropic's events.
fn blocks(events: &[Value]) -> Vec<Value> {
    let mut blocks: BTreeMap<u64, (Value, String)> = BTreeMap::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or(0);
        if event["type"] == "content_block_start" {
            blocks.insert(index, (event["content_block"].clone(), String::new()));
        }
        let Some((block, input)) = blocks.get_mut(&index) else {
            continue;
        };
        match event["delta"]["type"].as_str() {
            Some("input_json_delta") => {
                input.push_str(event["delta"]["partial_json"].as_str().unwrap());
            }
            Some("citations_delta") => {
                let mut citations = list(block, "/citations");
                citations.push(event["delta"]["citation"].clone());
                block["citations"] = citations.into();
            }
            Some(_) => {
                for (name, piece) in event["delta"].as_object().into_iter().flatten() {
                    let before = block[name].as_str().unwrap_or_default();
                    let piece = piece
                        .as_str()
                        .filter(|_| name != "type")
                        .unwrap_or_default();
                    if name != "type" {
                        block[name] = format!("{before}{piece}").into();
                    }
                }
            }
            None => {}
        }
    }
    let blocks = blocks.into_values().map(|(mut block, input)| {
        if !input.is_empty() {
            block["input"] = serde_json::from_str(&input).unwrap();
        }
        block
    });
    blocks.collect()
}

/// The message of the chunks: texts and lists are appended, and calls joined by their numbers.
fn chat_message(events: &[Value]) -> Vec<Value> {
    fn join(all: &mut Value, piece: &Value) {
        match (all, piece) {
            (_, Value::Null) => {}
            (Value::String(all), Value::String(piece)) => all.push_str(piece),
            (Value::Object(all), Value::Object(piece)) => {
                for (name, value) in piece {
                    let fixed = ["id", "type", "role", "format", "index"].contains(&&**name)
                        && all.contains_key(name);
                    if !fixed {
                        join(all.entry(name).or_insert(Value::Null), value);
                    }
                }
            }
            (Value::Array(all), Value::Array(pieces)) => {
                for piece in pieces {
                    let number = piece.get("index");
                    let same = all
                        .iter_mut()
                        .find(|one| number.is_some() && one.get("index") == number);
                    match same {
                        Some(same) => join(same, piece),
                        None => all.push(piece.clone()),
                    }
                }
            }
            (all, piece) => *all = piece.clone(),
        }
    }
    let mut message = json!({});
    for delta in events
        .iter()
        .filter_map(|event| event.pointer("/choices/0/delta"))
    {
        join(&mut message, delta);
    }
    vec![message]
}

/// The events of a response, or its body.
fn bodies(response: &Response) -> Vec<Value> {
    if !response.content_type.starts_with("text/event-stream") {
        return vec![serde_json::from_str(&response.body).unwrap()];
    }
    let data = response
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

fn recordings(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            recordings(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "httprr") {
            found.push(path);
        }
    }
}

/// The items as they came, and as they are sent back.
async fn sent_back(
    format: &Format,
    name: &str,
    response: &Response,
) -> Result<(Vec<Value>, Vec<Value>), LlmError> {
    let steps = server::answer("200 Recorded", &response.content_type, &response.body);
    let server = Server::always(steps).await;
    let model = match format.path {
        "/converse" => ProviderModel::bedrock("us-east-1", name),
        _ => ProviderModel::new(name).unwrap(),
    };
    let model = model
        .with_base_url(server.url(format.base))
        .with_key("k")
        .without_retry();
    let request = LlmRequest {
        on_pause: OnPause::Return,
        ..LlmRequest::new(vec![ChatMessage::user("hi")])
    };
    let bodies = bodies(response);
    let (answer, came) = if response.content_type.starts_with("text/event-stream") {
        let answer = model.stream(&request).await.unwrap().into_response().await;
        (answer, (format.joined)(&bodies))
    } else {
        (model.complete(&request).await, (format.whole)(&bodies[0]))
    };
    let answer = answer?;
    let results = answer.calls().map(|call| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: json!("done"),
        ..ToolResult::default()
    });
    let results: Vec<_> = results.collect();
    let mut messages = request.messages_with(&answer);
    if !results.is_empty() {
        messages.push(ChatMessage::results(results));
    }
    // The turn goes on after a call and after a pause.
    else if answer.finish != Some(FinishReason::Paused) {
        messages.push(ChatMessage::user("And then?"));
    }
    let stored = serde_json::to_string(&messages).unwrap();
    let messages: Vec<ChatMessage> = serde_json::from_str(&stored).unwrap();
    let before = server.requests().len();
    model.complete(&LlmRequest::new(messages)).await.ok();
    let sent = server.requests().remove(before).body;
    Ok((came, (format.sent)(&sent)))
}

/// Whether there is nothing in it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The fields with a value that are not in what is sent, by their paths.
fn missing(came: &Value, sent: Option<&Value>, path: &str, found: &mut Vec<String>) {
    match (came, sent) {
        (came, _) if is_empty(came) => {}
        (Value::Object(came), Some(Value::Object(sent))) => {
            for (name, value) in came {
                missing(value, sent.get(name), &format!("{path}/{name}"), found);
            }
        }
        (Value::Array(came), Some(Value::Array(sent))) => {
            for (index, value) in came.iter().enumerate() {
                missing(value, sent.get(index), &format!("{path}/*"), found);
            }
        }
        // Arguments are JSON as text.
        (Value::String(came), Some(Value::String(sent)))
            if came != sent && path.ends_with("/arguments") =>
        {
            let [came, sent] = [came, sent].map(|text| serde_json::from_str::<Value>(text).ok());
            if came != sent {
                found.push(path.to_string());
            }
        }
        (came, Some(sent)) if came == sent => {}
        _ => found.push(path.to_string()),
    }
}

/// What of these items is not sent, by kind and path. Items with an id are found by it, and others of one kind are in order.
fn not_sent(format: &Format, came: &[Value], sent: &[Value]) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest: Vec<&Value> = sent.iter().collect();
    let ids: Vec<_> = came.iter().filter_map(|item| item.get("id")).collect();
    for item in came {
        let kind = (format.kind)(item);
        let call = item.get("tool_use_id");
        if call.is_some_and(|call| !ids.contains(&call)) {
            // The answer continues another one, which has the call.
            continue;
        }
        let id = item.get("id").filter(|id| !is_empty(id));
        let same = |sent: &&Value| match id {
            Some(id) => sent.get("id") == Some(id),
            None => (format.kind)(sent) == kind,
        };
        match rest.iter().position(same) {
            Some(same) => missing(item, Some(rest.remove(same)), &kind, &mut all),
            None => all.push(kind),
        }
    }
    all
}

#[tokio::test]
async fn f42_each_field_of_a_recorded_answer_comes_back() {
    let Some(folder) = petalflow_test_support::recording("adk") else {
        return;
    };
    let mut files = Vec::new();
    recordings(&folder, &mut files);
    files.sort();
    let mut lost: BTreeMap<String, String> = BTreeMap::new();
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files {
        for Pair { request, response } in httprr::read(&file) {
            let path = request
                .path
                .replace(":streamGenerateContent", ":generateContent");
            let Some(format) = FORMATS.iter().find(|format| path.ends_with(format.path)) else {
                continue;
            };
            let Some(name) = (format.model)(&request).filter(|_| response.status == 200) else {
                continue;
            };
            let found = match sent_back(format, &name, &response).await {
                Ok((came, sent)) => not_sent(format, &came, &sent),
                Err(error) => vec![format!("not read: {error}")],
            };
            let is_taken = |path: &String| {
                let mut all = format.not_taken.iter();
                !all.any(|(provider, start, _)| {
                    name.starts_with(provider) && path.starts_with(start)
                })
            };
            for path in found.into_iter().filter(is_taken) {
                lost.entry(format!("{name} {path}"))
                    .or_insert_with(|| file.display().to_string());
            }
            *compared.entry(format.path).or_default() += 1;
        }
    }
    assert!(lost.is_empty(), "{lost:#?}\n{compared:?}");
    assert!(compared.values().sum::<usize>() > 30, "{compared:?}");
}
