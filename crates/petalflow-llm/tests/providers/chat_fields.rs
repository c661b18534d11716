//! The fields of an answer of the chat completions that the program need not understand: what goes back.

use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use serde_json::{Value, json};

fn annotations() -> Value {
    json!([
        {"type": "url_citation", "url_citation": {"url": "https://example.com/petals", "start_index": 0, "end_index": 4}},
        {"type": "file", "file": {"hash": "h1", "name": "petals.pdf", "content": [{"type": "text", "text": "PARSED"}]}},
    ])
}

fn executed_tools() -> Value {
    json!([{"index": 0, "type": "search", "arguments": "{\"query\": \"petals\"}", "output": "Five."}])
}

/// An answer with these fields, and an empty list of annotations in each piece, as some servers send it.
fn steps(fields: &Value, streamed: bool) -> Vec<Step> {
    let mut message = json!({"role": "assistant", "content": "Five.", "annotations": []});
    if !streamed {
        merge(&mut message, fields);
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        return answer("200 OK", "application/json", &body.to_string());
    }
    let piece = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut steps = vec![events(), chunk(&data(&piece(message)))];
    for (name, value) in fields.as_object().unwrap() {
        steps.push(chunk(&data(&piece(json!({name: value})))));
    }
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    steps.extend([chunk(&data(&last)), chunk("data: [DONE]\n\n"), end()]);
    steps
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn merge(message: &mut Value, fields: &Value) {
    for (name, value) in fields.as_object().unwrap() {
        message[name] = value.clone();
    }
}

async fn ask(name: &str, server: &Server, request: &LlmRequest, streamed: bool) -> LlmResponse {
    let model = ProviderModel::new(name).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    if streamed {
        let stream = model.stream(request).await.unwrap();
        stream.into_response().await.unwrap()
    } else {
        model.complete(request).await.unwrap()
    }
}

/// What a model is sent after an answer with these fields, and the answers to both requests.
async fn round_trip(
    from: &str,
    to: &str,
    fields: &Value,
    streamed: bool,
) -> (LlmResponse, Value, LlmResponse) {
    let server = Server::always(steps(fields, streamed)).await;
    let request = LlmRequest::new(vec![ChatMessage::user("How many petals?")]);
    let first = ask(from, &server, &request, streamed).await;
    let mut messages = request.messages_with(&first);
    messages.push(ChatMessage::user("Why?"));
    let stored = serde_json::to_string(&messages).unwrap();
    let next = LlmRequest::new(serde_json::from_str::<Vec<ChatMessage>>(&stored).unwrap());
    let server = Server::always(steps(&json!({}), streamed)).await;
    let second = ask(to, &server, &next, streamed).await;
    let sent = server.requests().remove(0).body["messages"][1].clone();
    (first, sent, second)
}

fn provider_parts(response: &LlmResponse) -> Vec<Value> {
    let parts = response.message.iter().flat_map(|message| &message.parts);
    let parts = parts.filter_map(|part| match part {
        Part::Provider { value, .. } => Some(value.clone()),
        _ => None,
    });
    parts.collect()
}

#[tokio::test]
async fn annotations_go_back_to_the_providers_that_take_them() {
    let fields = json!({"annotations": annotations()});
    for streamed in [false, true] {
        for (name, taken) in [
            ("openai::gpt-4o-search-preview", true),
            ("open_router::mistralai/mistral-small", true),
            ("groq::groq/compound", false),
            ("cerebras::gpt-oss-120b", false),
        ] {
            let (first, sent, second) = round_trip(name, name, &fields, streamed).await;
            assert_eq!(
                provider_parts(&first),
                std::slice::from_ref(&fields),
                "{name}"
            );
            assert_eq!(first.meta["citations"], annotations(), "{name}");
            let expected = taken.then(annotations);
            assert_eq!(sent.get("annotations"), expected.as_ref(), "{name}");
            assert_eq!(second.meta.contains_key("left_out"), !taken, "{name}");
        }
        let to = "openai::gpt-4o";
        let (_, sent, second) = round_trip("open_router::x/y", to, &fields, streamed).await;
        assert_eq!(sent.get("annotations"), None);
        assert_eq!(second.meta["left_out"], json!({"open_router": 1}));
    }
}

#[tokio::test]
async fn tools_that_groq_has_run_are_kept_and_not_sent_back() {
    let fields = json!({"executed_tools": executed_tools()});
    let name = "groq::groq/compound";
    for streamed in [false, true] {
        let (first, sent, second) = round_trip(name, name, &fields, streamed).await;
        assert_eq!(provider_parts(&first), std::slice::from_ref(&fields));
        assert_eq!(sent, json!({"role": "assistant", "content": "Five."}));
        assert_eq!(second.meta["left_out"], json!({"groq": 1}));
    }
}

#[tokio::test]
async fn audio_goes_back_by_its_id_and_a_picture_as_it_came() {
    let url = "data:image/png;base64,UEVUQUw=";
    let images = json!([{"type": "image_url", "image_url": {"url": url}}]);
    let audio =
        json!({"id": "audio_1", "data": "UEVUQUw=", "transcript": "Five.", "expires_at": 1});
    let fields = json!({"audio": audio, "images": images});
    for streamed in [false, true] {
        for name in ["openai::gpt-4o-audio-preview", "open_router::x/y"] {
            let (first, sent, second) = round_trip(name, name, &fields, streamed).await;
            assert_eq!(provider_parts(&first), [json!({"audio": audio})], "{name}");
            assert_eq!(sent["audio"], json!({"id": "audio_1"}), "{name}");
            assert_eq!(sent["images"], images, "{name}");
            assert!(!second.meta.contains_key("left_out"), "{name}");
        }
        let (_, sent, second) =
            round_trip("openai::gpt-4o-audio-preview", "groq::x", &fields, streamed).await;
        assert_eq!(sent, json!({"role": "assistant", "content": "Five."}));
        // A picture is shown to the program, and is no signature.
        assert_eq!(second.meta["left_out"], json!({"openai": 1}));
    }
}

#[tokio::test]
async fn log_probabilities_are_in_the_response() {
    let of = |token: &str| json!({"token": token, "logprob": -0.1, "top_logprobs": []});
    let choice = |content: Value| json!({"choices": [content]});
    let whole = choice(json!({
        "message": {"content": "Five."},
        "logprobs": {"content": [of("Fi"), of("ve.")]},
        "finish_reason": "stop",
    }));
    let piece = |text: &str| {
        choice(json!({"delta": {"content": text}, "logprobs": {"content": [of(text)]}}))
    };
    let last = choice(json!({"delta": {}, "finish_reason": "stop", "logprobs": null}));
    let pieces = [piece("Fi"), piece("ve."), last].map(|piece| chunk(&data(&piece)));
    let streamed = [vec![events()], pieces.to_vec(), vec![end()]].concat();
    let request = LlmRequest {
        extra: [("logprobs".to_string(), json!(true))]
            .into_iter()
            .collect(),
        ..LlmRequest::prompt("How many petals?")
    };
    for (steps, is_streamed) in [
        (
            answer("200 OK", "application/json", &whole.to_string()),
            false,
        ),
        (streamed, true),
    ] {
        let server = Server::always(steps).await;
        let response = ask("openai::gpt-4o", &server, &request, is_streamed).await;
        assert_eq!(response.text(), "Five.");
        assert_eq!(response.meta["logprobs"], json!([of("Fi"), of("ve.")]));
        assert_eq!(server.requests()[0].body["logprobs"], true);
    }
}
