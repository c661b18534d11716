//! Servers that fail in every way: errors say so, nothing panics and nothing hangs.

use std::time::Duration;

use futures_util::StreamExt;
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel};
use serde_json::json;

use petalflow_llm_test_support::server::{
    Server, Step, answer, chunk, end, event, events, with_headers,
};
use petalflow_test_support::{assert_contains, assert_starts_with};

const KEY: &str = "sk-very-secret";

fn openai(server: &Server) -> ProviderModel {
    ProviderModel::openai_compatible(server.url("/v1"), "tiny")
        .without_retry()
        .with_key(KEY)
}

fn gemini(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("gemini-2.5-flash")
        .unwrap()
        .without_retry();
    model.with_base_url(server.url("/v1beta")).with_key(KEY)
}

fn anthropic(server: &Server) -> ProviderModel {
    let model = ProviderModel::new("claude-sonnet-4-6")
        .unwrap()
        .without_retry();
    model.with_base_url(server.url("/v1")).with_key(KEY)
}

/// Asks for a whole answer and for a stream; both must end soon, and with an error.
async fn errors(model: &ProviderModel) -> [LlmError; 2] {
    let request = LlmRequest::prompt("hi");
    let patience = Duration::from_secs(20);
    let whole = tokio::time::timeout(patience, model.complete(&request)).await;
    let streamed = tokio::time::timeout(patience, complete_streaming(model, &request)).await;
    let errors = [whole, streamed].map(|result| result.expect("it hangs").unwrap_err());
    for error in &errors {
        let text = format!("{error} {error:?}");
        assert!(!text.contains(KEY), "a secret in {text}");
        assert!(
            !error.to_string().contains('\n') && error.to_string().len() < 600,
            "{error}"
        );
    }
    errors
}

async fn complete_streaming(
    model: &ProviderModel,
    request: &LlmRequest,
) -> Result<LlmResponse, LlmError> {
    model.stream(request).await?.into_response().await
}

#[tokio::test]
async fn the_wait_that_a_server_requests_is_in_the_error() {
    let body = json!({"error": {"message": "Too many requests, slow down"}}).to_string();
    let headers = "content-type: application/json\r\nretry-after: 7\r\n";
    let server = Server::always(with_headers("429 Too Many Requests", headers, &body)).await;
    for model in [openai(&server), gemini(&server), anthropic(&server)] {
        for error in errors(&model).await {
            let retry_after = Some(Duration::from_secs(7));
            assert_eq!(error.kind, LlmErrorKind::RateLimited { retry_after });
            let name = model.name();
            assert_eq!(
                error.to_string(),
                format!(
                    "provider `{name}` failed: 429 Too Many Requests: Too many requests, slow down"
                )
            );
        }
    }
}

#[tokio::test]
async fn i015_the_error_of_a_server_is_reported() {
    let server = Server::always(answer(
        "500 Internal Server Error",
        "text/html",
        "<h1>oh\n no</h1>",
    ))
    .await;
    for model in [openai(&server), gemini(&server), anthropic(&server)] {
        for error in errors(&model).await {
            let status = Some(500);
            assert_eq!(
                error.kind,
                LlmErrorKind::Provider {
                    status,
                    retry_after: None
                }
            );
            assert!(
                error
                    .to_string()
                    .ends_with("failed: 500 Internal Server Error: <h1>oh no</h1>"),
                "{error}"
            );
            assert!(error.is_transient());
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_an_error_without_the_key() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
    let server = Server::always(answer(
        "401 Unauthorized",
        "application/json",
        &body.to_string(),
    ))
    .await;
    for error in errors(&openai(&server)).await {
        assert_eq!(error.kind, LlmErrorKind::Auth);
        assert!(
            error
                .to_string()
                .ends_with("Incorrect API key provided: ***"),
            "{error}"
        );
        assert!(!error.is_transient());
    }
    assert!(!format!("{:?}", openai(&server)).contains(KEY));
}

#[tokio::test]
async fn no_part_of_a_key_is_left_where_a_long_body_is_cut() {
    let escaped = KEY.replace('-', "\\u002d");
    let first = "Rejected:";
    for body in [
        // The search for secrets ends in the middle of the key.
        format!("{first}{}{KEY}", " ".repeat(64 * 1024 - first.len() - 8)),
        format!("{first}\u{1b}[31m \u{7}no\u{0}"),
        format!(r#"{{"problem": "Rejected: {escaped}"}}"#),
    ] {
        let server = Server::always(answer("400 Bad Request", "text/plain", &body)).await;
        for error in errors(&openai(&server)).await {
            let text = error.to_string();
            assert!(text.contains("Rejected:"), "{text}");
            assert!(!text.contains("sk-ve") && !text.contains("u002d"), "{text}");
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_another_kind_is_an_error() {
    let server = Server::always(answer(
        "200 OK",
        "text/html",
        "<p>Welcome to the gateway</p>",
    ))
    .await;
    for model in [openai(&server), gemini(&server), anthropic(&server)] {
        for error in errors(&model).await {
            assert_eq!(error.kind, LlmErrorKind::Malformed);
            let expected =
                "it answered with `text/html`, which is not JSON: <p>Welcome to the gateway</p>";
            assert_contains(&error, expected);
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_not_json_is_an_error() {
    let server = Server::start(|_, asked| {
        if asked.path.contains("stream") || asked.body["stream"] == true {
            vec![
                events(),
                chunk("event: message_start\ndata: {\"choices\": [}\n\n"),
                end(),
            ]
        } else {
            answer("200 OK", "application/json", "{\"choices\": [")
        }
    })
    .await;
    for model in [openai(&server), gemini(&server), anthropic(&server)] {
        for error in errors(&model).await {
            assert_eq!(error.kind, LlmErrorKind::Malformed, "{error}");
        }
    }
}

#[tokio::test]
async fn json_of_another_shape_does_not_panic() {
    for body in [
        "null",
        "[]",
        "{}",
        "3",
        "{\"choices\": 1}",
        "{\"choices\": [{\"message\": []}]}",
        "{\"candidates\": {}}",
        "{\"content\": \"x\"}",
    ] {
        let server = Server::start(move |_, asked| {
            if asked.path.contains("stream") || asked.body["stream"] == true {
                vec![events(), chunk(&format!("data: {body}\n\n")), end()]
            } else {
                answer("200 OK", "application/json", body)
            }
        })
        .await;
        for model in [openai(&server), gemini(&server), anthropic(&server)] {
            let request = LlmRequest::prompt("hi");
            // An answer without words or an error: either is fine, so long as it comes.
            let patience = Duration::from_secs(20);
            let _ = tokio::time::timeout(patience, model.complete(&request))
                .await
                .expect("it hangs");
            let _ = tokio::time::timeout(patience, complete_streaming(&model, &request))
                .await
                .expect("it hangs");
        }
    }
}

#[tokio::test]
async fn an_error_that_comes_with_a_good_status_is_one() {
    let body = json!({"error": {"message": "no credits left", "code": 402}}).to_string();
    let server = Server::always(answer("200 OK", "application/json", &body)).await;
    let error = openai(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    let status = Some(402);
    assert_eq!(
        error.kind,
        LlmErrorKind::Provider {
            status,
            retry_after: None
        }
    );
    assert_eq!(
        error.to_string(),
        "provider `openai-compatible` failed: no credits left"
    );
    let server = Server::always(answer("200 OK", "application/json", "{\"hello\": 1}")).await;
    let error = openai(&server)
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Malformed);
    assert!(
        error
            .to_string()
            .ends_with("there is no answer in what it sent: {\"hello\":1}"),
        "{error}"
    );
}

#[tokio::test]
async fn counts_that_are_too_large_do_not_panic() {
    let most = u64::MAX;
    let body = json!({
        "candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": most, "candidatesTokenCount": most, "thoughtsTokenCount": most},
    });
    let server = Server::start(move |_, asked| {
        if asked.path.contains("stream") {
            vec![events(), event(&body), end()]
        } else {
            answer("200 OK", "application/json", &body.to_string())
        }
    })
    .await;
    let (model, request) = (gemini(&server), LlmRequest::prompt("hi"));
    for response in [
        model.complete(&request).await,
        complete_streaming(&model, &request).await,
    ] {
        let usage = response.unwrap().usage;
        assert_eq!((usage.input, usage.output, usage.total), (most, most, most));
    }
}

#[tokio::test]
async fn addresses_and_keys_that_cannot_be_are_errors() {
    let request = LlmRequest::prompt("hi");
    for (url, key) in [
        ("not an address", KEY),
        ("http://127.0.0.1:1", "line\nbreak"),
    ] {
        let model = ProviderModel::openai_compatible(url, "tiny")
            .without_retry()
            .with_key(key);
        for answer in [
            model.complete(&request).await,
            complete_streaming(&model, &request).await,
        ] {
            let error = answer.unwrap_err();
            assert_eq!(error.kind, LlmErrorKind::Request, "{error}");
            assert!(!error.to_string().contains("line"), "{error}");
        }
    }
}

#[tokio::test]
async fn white_space_around_a_key_is_removed_and_the_key_is_not_in_errors() {
    for key in [
        format!(" {KEY}"),
        format!("{KEY}\n"),
        format!("\t{KEY} \r\n"),
    ] {
        // The server repeats what it got.
        let server = Server::start(|_, asked| {
            let mut lines = asked.head.lines();
            let sent = lines.find_map(|line| line.strip_prefix("authorization:"));
            let body =
                json!({"error": {"message": format!("Incorrect API key: {}", sent.unwrap())}});
            answer("401 Unauthorized", "application/json", &body.to_string())
        })
        .await;
        let model = ProviderModel::openai_compatible(server.url("/v1"), "tiny")
            .without_retry()
            .with_key(&key);
        for error in errors(&model).await {
            assert_eq!(error.kind, LlmErrorKind::Auth);
            assert!(
                error.to_string().ends_with("Incorrect API key: bearer ***"),
                "{error}"
            );
        }
    }
    let model = ProviderModel::openai_compatible("http://127.0.0.1:1", "tiny").without_retry();
    for error in errors(&model.with_key("sk-very secret")).await {
        assert_eq!(error.kind, LlmErrorKind::Request);
        assert_eq!(
            error.to_string(),
            "provider `openai-compatible` failed: its key contains white space; copy the key again, without anything else"
        );
    }
}

#[tokio::test]
async fn secrets_of_an_address_are_not_in_errors() {
    // The server repeats the address of the request, as many do if it is unknown.
    let server = Server::start(|_, asked| {
        let body = json!({"error": {"message": format!("unknown: {}", asked.head.lines().next().unwrap())}});
        answer("404 Not Found", "application/json", &body.to_string())
    })
    .await;
    let known = server.url("/v1");
    let host = known.strip_prefix("http://").unwrap();
    for address in [
        format!("http://user:hunter2@{host}?sig=hunter%203&key=hunter4"),
        format!("http://hunter5@{host}"),
        "http://user:hunter2@127.0.0.1:1/v1?sig=hunter3".to_string(),
        "http://user:hunter2@127.0.0.1:port/v1?sig=hunter3".to_string(),
        "http://user:hunter2@/v1?sig=hunter3".to_string(),
        "http://user:hunter2@[::1/v1".to_string(),
        "user:hunter2@localhost/v1?sig=hunter3".to_string(),
    ] {
        let gemini = ProviderModel::new("gemini-2.5-flash")
            .unwrap()
            .without_retry();
        let anthropic = ProviderModel::new("claude-sonnet-4-6")
            .unwrap()
            .without_retry();
        for model in [
            ProviderModel::openai_compatible(&*address, "tiny")
                .without_retry()
                .with_key(KEY),
            gemini.with_base_url(&*address).with_key(KEY),
            anthropic.with_base_url(&*address).with_key(KEY),
        ] {
            for error in errors(&model).await {
                let text = format!("{error} {error:?} {model:?}");
                assert!(!text.contains("hunter"), "a secret of {address} in {text}");
            }
        }
    }
    let model = ProviderModel::openai_compatible("http://a:hunter2@127.0.0.1:port/v1", "tiny")
        .without_retry();
    for error in errors(&model).await {
        assert_eq!(error.kind, LlmErrorKind::Request);
        assert_eq!(
            error.to_string(),
            "provider `openai-compatible` failed: its address cannot be read: invalid port number; write it such as \
             `http://localhost:8000/v1`"
        );
    }
}

#[tokio::test]
async fn i018_a_stream_that_is_cut_preserves_the_partial_answer() {
    let word = json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]});
    let candidate =
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hel"}]}}]});
    for (cut, how) in [
        (vec![], "in the middle of a chunk"),
        (vec![end()], "between two events"),
    ] {
        let server = Server::start({
            let (word, candidate) = (word.clone(), candidate.clone());
            move |_, asked| {
                let first = if asked.path.contains("gemini") {
                    &candidate
                } else {
                    &word
                };
                let mut steps = vec![events(), event(first)];
                if cut.is_empty() {
                    steps.push(Step::Send(b"40\r\ndata: {\"choi".to_vec()));
                }
                steps.extend(cut.clone());
                steps
            }
        })
        .await;
        for model in [openai(&server), gemini(&server)] {
            let stream = model.stream(&LlmRequest::prompt("hi")).await.unwrap();
            let mut chunks: Vec<_> = stream.collect().await;
            let last = chunks.pop().unwrap();
            assert_eq!(last.error.unwrap().kind, LlmErrorKind::Connection, "{how}");
            assert_eq!(last.response.unwrap().text(), "Hel", "{how}");
            assert!(last.done && chunks.iter().all(|chunk| !chunk.done));
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_one() {
    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [{"index": 0, "delta": {"content": "Hel"}}]})),
        event(&json!({"error": {"message": "the model is on fire", "type": "server_error"}})),
        end(),
    ])
    .await;
    let error = complete_streaming(&openai(&server), &LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    assert!(matches!(error.kind, LlmErrorKind::Provider { .. }));
    assert_eq!(
        error.to_string(),
        "provider `openai-compatible` failed: the model is on fire"
    );
}

#[tokio::test]
async fn a_server_that_closes_without_an_answer_is_an_error() {
    let server = Server::always(vec![]).await;
    for model in [openai(&server), gemini(&server), anthropic(&server)] {
        for error in errors(&model).await {
            assert_eq!(error.kind, LlmErrorKind::Connection, "{error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let server = Server::always(vec![]).await;
    let model = openai(&server);
    drop(server);
    tokio::task::yield_now().await;
    for error in errors(&model).await {
        assert_eq!(error.kind, LlmErrorKind::Connection);
        assert!(
            error.to_string().contains("no connection") || error.to_string().contains("was lost"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn i020_a_server_that_stalls_runs_into_the_idle_timeout() {
    let server = Server::start(|number, _| match number {
        2 => vec![
            events(),
            event(&json!({"choices": [{"delta": {"content": "Hel"}}]})),
            Step::Stall,
        ],
        _ => vec![Step::Stall],
    })
    .await;
    let model = openai(&server).with_idle_timeout(Duration::from_millis(200));
    for error in errors(&model).await {
        assert_eq!(error.kind, LlmErrorKind::Timeout, "{error}");
        assert_contains(&error, "did not answer in time");
    }
    let error = complete_streaming(&model, &LlmRequest::prompt("hi"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Timeout, "{error}");
    server.wait_for_disconnects(3).await;
}

#[tokio::test]
async fn large_arguments_arrive() {
    let text = "x".repeat(8_000_000);
    let whole = json!({
        "choices": [{"message": {"tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "save", "arguments": json!({"text": text}).to_string()}},
        ]}}],
    })
    .to_string();
    let piece = |arguments: &str| {
        let call =
            json!({"index": 0, "id": "c", "function": {"name": "save", "arguments": arguments}});
        event(&json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}))
    };
    let mut steps = vec![events(), piece("{\"text\": \"")];
    steps.extend((0..8_000).map(|_| piece(&"x".repeat(1_000))));
    steps.extend([piece("\"}"), chunk("data: [DONE]\n\n"), end()]);
    let server = Server::start(move |_, asked| {
        if asked.body["stream"] == true {
            steps.clone()
        } else {
            answer("200 OK", "application/json", &whole)
        }
    })
    .await;
    let model = openai(&server);
    let request = LlmRequest::prompt("hi");
    let whole = model.complete(&request).await.unwrap();
    let streamed = complete_streaming(&model, &request).await.unwrap();
    for response in [whole, streamed] {
        let call = response.calls().next().unwrap();
        assert_eq!(call.arguments["text"].as_str().unwrap().len(), 8_000_000);
    }
}

#[tokio::test]
async fn without_a_key_no_request_is_sent() {
    // Nobody has this provider's key.
    let model = ProviderModel::new("hugging_face::qwen")
        .unwrap()
        .without_retry();
    let error = model.complete(&LlmRequest::prompt("hi")).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Auth);
    assert_eq!(
        error.to_string(),
        "no key for `hugging_face`; set HF_TOKEN, or give one with `with_key`"
    );
}

#[test]
fn a_model_name_without_a_known_provider_is_an_error() {
    let error = ProviderModel::new("qwen3").unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Request);
    assert_starts_with(
        &error,
        "model `qwen3` does not identify a provider; write `ollama::qwen3`",
    );
}

#[tokio::test]
async fn an_address_without_a_scheme_is_an_error_with_the_correct_form() {
    for address in ["127.0.0.1:8000/v1", "localhost", ""] {
        let model = ProviderModel::openai_compatible(address, "tiny")
            .without_retry()
            .with_key(KEY);
        for error in errors(&model).await {
            assert_eq!(error.kind, LlmErrorKind::Request);
            assert_eq!(
                error.to_string(),
                "provider `openai-compatible` failed: its address does not begin with `http://` or `https://`; write it in \
                 full, such as `http://localhost:8000/v1`"
            );
        }
    }
}
