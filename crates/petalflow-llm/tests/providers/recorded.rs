//! Recordings of Gemini, through the real code.

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use petalflow_llm::response::FinishReason;
use petalflow_llm::stream::Delta;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel, TokenUsage,
};
use serde_json::{Value, json};

use petalflow_llm_test_support::httprr::{self, Pair, Response};
use petalflow_llm_test_support::replay::Replay;
use petalflow_llm_test_support::server::{self, Server};

fn capital_request() -> LlmRequest {
    LlmRequest {
        temperature: Some(0.0),
        ..LlmRequest::new(vec![ChatMessage::user(
            "What is the capital of France? One word.",
        )])
    }
}

#[tokio::test]
async fn a_recorded_answer_is_read() {
    let Some(replay) = Replay::of("adk/model/gemini/testdata/TestModel_Generate_ok.httprr").await
    else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let response = model.complete(&capital_request()).await.unwrap();
    assert_eq!(response.text(), "Paris");
    assert_eq!(response.finish, Some(FinishReason::Stop));
    assert_eq!(
        (response.provider.as_str(), response.model.as_str()),
        ("gemini", "gemini-2.5-flash")
    );
    assert!(!response.id.is_empty());
    assert_eq!(response.usage.input, 11);
    assert_eq!(
        response.usage.total,
        response.usage.input + response.usage.output
    );
    assert_eq!(replay.remaining(), 0);
    let asked = &replay.server.requests()[0];
    assert_eq!(asked.body["generationConfig"]["temperature"], 0.0);
    assert_eq!(asked.body["contents"][0]["role"], "user");
}

#[tokio::test]
async fn a_recorded_answer_is_read_as_a_stream() {
    let path = "adk/model/gemini/testdata/TestModel_GenerateStream_ok.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let stream = model.stream(&capital_request()).await.unwrap();
    let chunks: Vec<_> = stream.collect().await;
    assert_eq!(chunks[0].delta, Delta::Text("Paris".into()));
    let response = chunks.last().unwrap().response.as_ref().unwrap();
    assert_eq!(response.text(), "Paris");
    let recorded = &httprr::read(&petalflow_test_support::recording(path).unwrap())[0].response;
    assert!(!response.id.is_empty() && recorded.body.contains(&response.id));
    assert_eq!(
        response.usage,
        TokenUsage {
            input: 11,
            output: 34,
            total: 45,
            reasoning: 33,
            ..TokenUsage::default()
        }
    );
}

/// The contents of this recorded answer of Gemini: text, calls and signatures.
fn recorded_parts(response: &Response) -> (String, Vec<(String, Value)>, usize) {
    let bodies: Vec<Value> = if response.content_type.starts_with("text/event-stream") {
        let lines = response.body.lines();
        let data = lines.filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap())
            .collect()
    } else {
        vec![serde_json::from_str(&response.body).unwrap()]
    };
    let parts = bodies
        .iter()
        .filter_map(|body| body.pointer("/candidates/0/content/parts")?.as_array());
    let parts: Vec<&Value> = parts.flatten().collect();
    let words = parts.iter().filter(|part| part["thought"] != true);
    let words = words.filter_map(|part| part["text"].as_str()).collect();
    let calls = parts.iter().filter_map(|part| part.get("functionCall"));
    let calls = calls.map(|call| {
        let arguments = call
            .get("args")
            .cloned()
            .unwrap_or_else(|| serde_json::json!({}));
        (call["name"].as_str().unwrap().to_string(), arguments)
    });
    let signed = parts
        .iter()
        .filter(|part| part.get("thoughtSignature").is_some());
    (words, calls.collect(), signed.count())
}

/// The lists of parts in a recorded answer.
fn parts_of(response: &Response) -> Vec<Value> {
    let lines = response.body.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let bodies = if events.is_empty() {
        vec![serde_json::from_str(&response.body).unwrap()]
    } else {
        events
    };
    let parts = bodies
        .iter()
        .map(|body: &Value| body.pointer("/candidates/0/content/parts"));
    parts.flatten().cloned().collect()
}

/// The signatures that are sent back, each with what it signs: a call with its name, or text.
fn signed_parts<'a>(lists: impl IntoIterator<Item = &'a Value>) -> Vec<(String, String)> {
    let parts = lists.into_iter().filter_map(Value::as_array).flatten();
    let parts = parts.filter(|part| part["thought"] != true);
    let signed = parts.filter_map(|part| {
        let signature = part["thoughtSignature"].as_str()?.to_string();
        let name = part.pointer("/functionCall/name").and_then(Value::as_str);
        Some((name.unwrap_or("text").to_string(), signature))
    });
    // A model of the third generation is sent a placeholder for a call without a signature.
    signed
        .filter(|(_, signature)| !signature.starts_with("skip_"))
        .collect()
}

fn response_parts(response: &LlmResponse) -> (String, Vec<(String, Value)>, usize) {
    let calls = response.calls();
    let calls = calls.map(|call| (call.name.clone(), call.arguments.clone()));
    let parts = response.message.iter().flat_map(|message| &message.parts);
    let signed = parts.filter(|part| match part {
        Part::Text(text) | Part::Thought(text) => text.signature.is_some(),
        Part::Call(call) => call.signature.is_some(),
        _ => false,
    });
    (response.text(), calls.collect(), signed.count())
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

#[tokio::test]
async fn a066_all_recorded_gemini_answers_are_read() {
    let Some(folder) = petalflow_test_support::recording("adk") else {
        return;
    };
    let mut files = Vec::new();
    recordings(&folder, &mut files);
    let recorded = files.len();
    let (mut answers, mut refusals, mut signed) = (0, 0, 0);
    for file in files {
        for Pair { request, response } in httprr::read(&file) {
            let Some((name, method)) = request
                .path
                .split_once("/models/")
                .and_then(|(_, rest)| rest.split_once(':'))
            else {
                continue;
            };
            let expected = response.clone();
            let server = Server::always(server::answer(
                &format!("{} Recorded", response.status),
                &response.content_type,
                &response.body,
            ))
            .await;
            let model = ProviderModel::new(name).unwrap();
            let model = model
                .with_base_url(server.url("/v1beta"))
                .with_key("test-key");
            let request = LlmRequest::prompt("hi");
            let answer = match method {
                "generateContent" => model.complete(&request).await,
                "streamGenerateContent" => match model.stream(&request).await {
                    Ok(stream) => stream.into_response().await,
                    Err(error) => Err(error),
                },
                other => panic!("{other} in {}", file.display()),
            };
            if expected.status == 200 {
                let answer = answer.unwrap_or_else(|error| panic!("{error} in {}", file.display()));
                assert_eq!(
                    response_parts(&answer),
                    recorded_parts(&expected),
                    "{}",
                    file.display()
                );
                assert!(answer.usage.total > 0 && answer.finish.is_some());
                assert!(answer.model.starts_with("gemini"));
                assert_eq!(expected.body.contains("responseId"), !answer.id.is_empty());
                model
                    .complete(&LlmRequest::new(request.messages_with(&answer)))
                    .await
                    .ok();
                let sent = server.requests().pop().unwrap().body;
                let sent = sent.pointer("/contents/0/parts").unwrap_or(&Value::Null);
                assert_eq!(
                    signed_parts([sent]),
                    signed_parts(parts_of(&expected).iter()),
                    "{}",
                    file.display()
                );
                signed += signed_parts([sent]).len();
                answers += 1;
            } else {
                assert!(answer.unwrap_err().to_string().contains("failed: "));
                refusals += 1;
            }
        }
    }
    assert!(
        answers > recorded && refusals > 0 && signed > 0,
        "{answers} answers, {refusals} refusals, {signed} signatures"
    );
}

#[tokio::test]
async fn a064_a_recorded_stream_is_joined() {
    let path = "adk/agent/llmagent/testdata/TestLLMAgentStreamingModeSSE.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let pairs = httprr::read(&petalflow_test_support::recording(path).unwrap());
    let name = pairs[0].request.path.split("/models/").nth(1).unwrap();
    let model = replay.model(name.split(':').next().unwrap());
    let stream = model
        .stream(&LlmRequest::prompt(
            "What is the sum of the first 50 prime numbers?",
        ))
        .await
        .unwrap();
    let chunks: Vec<_> = stream.collect().await;
    let pieces = chunks.iter().filter_map(|chunk| match &chunk.delta {
        Delta::Text(words) => Some(words.as_str()),
        _ => None,
    });
    let pieces: Vec<_> = pieces.collect();
    assert!(pieces.len() > 1);
    let response = chunks.last().unwrap().response.as_ref().unwrap();
    assert_eq!(response.text(), pieces.concat());
    assert_eq!(response.text(), recorded_parts(&pairs[0].response).0);
}

/// A recording of these questions and answers.
fn recording(name: &str, pairs: &[(&str, &str)]) -> PathBuf {
    let mut text = String::from("httprr trace v1\n");
    for (question, answer) in pairs {
        let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": question }] }] });
        let path = "https://example.com/v1beta/models/gemini-2.5-flash:generateContent";
        let request = format!("POST {path} HTTP/1.1\r\nhost: example.com\r\n\r\n{body}");
        let content = json!({ "role": "model", "parts": [{ "text": answer }] });
        let body = json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] });
        let response = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{body}");
        let lengths = format!("{} {}", request.len(), response.len());
        text.extend([lengths.as_str(), "\n", &request, &response]);
    }
    let file = std::env::temp_dir().join(format!("petalflow-{}-{name}.httprr", std::process::id()));
    std::fs::write(&file, text).unwrap();
    file
}

#[tokio::test]
async fn alike_requests_get_their_own_responses_and_equal_ones_in_order() {
    let pairs = [
        ("what is the sum of 1 and 2", "3"),
        ("what is the sum", "of what?"),
        ("what is the sum of 1 and 2 and 3", "6"),
        ("what is the sum of 1 and 2", "still 3"),
    ];
    let file = recording("alike", &pairs);
    for order in [[0, 1, 2, 3], [2, 0, 3, 1], [1, 0, 2, 3]] {
        let replay = Replay::file(&file).await;
        let model = replay.model("gemini-2.5-flash");
        for index in order {
            let (question, answer) = pairs[index];
            let response = model.complete(&LlmRequest::prompt(question)).await.unwrap();
            assert_eq!(response.text(), answer, "{question}");
        }
    }
    // What differs by chance does not change the order.
    let replay = Replay::file(&file).await;
    let model = replay.model("gemini-2.5-flash");
    let asked = LlmRequest::prompt("So what is the sum of 1 and 2?");
    for answer in ["3", "still 3"] {
        assert_eq!(model.complete(&asked).await.unwrap().text(), answer);
    }

    let error = model.complete(&LlmRequest::prompt("Good morning!")).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`/contents/0/parts/0/text` was recorded as \"what is the sum\", and is \"Good morning!\""),
        "{error}"
    );
    std::fs::remove_file(&file).unwrap();
}
