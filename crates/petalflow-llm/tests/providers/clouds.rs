//! Models at Azure and at Vertex AI: their paths, what gives access, and what is only theirs.

use petalflow_llm::message::Text;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    AccessToken, AzureApi, ChatMessage, LlmClient, LlmErrorKind, LlmRequest, LlmResponse, Part,
    ProviderModel, Role,
};
use petalflow_llm_test_support::server::{ReceivedRequest, Server, answer, end, event, events};
use serde_json::{Value, json};

fn hi() -> LlmRequest {
    LlmRequest::prompt("hi")
}

fn chat() -> Value {
    json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]})
}

fn claude() -> Value {
    json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
}

fn gemini() -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]})
}

async fn asked(
    body: Value,
    model: impl FnOnce(&Server) -> ProviderModel,
) -> (ReceivedRequest, LlmResponse) {
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let response = model(&server).complete(&hi()).await.unwrap();
    (server.requests().remove(0), response)
}

#[tokio::test]
async fn azure_is_asked_at_its_paths_with_its_header() {
    let api = AzureApi::Deployments {
        api_version: "2024-10-21".into(),
    };
    let (sent, _) = asked(chat(), |server| {
        ProviderModel::azure(server.url("/"), "our-4o", api.clone()).with_key("the-key")
    })
    .await;
    assert_eq!(sent.path, "/openai/deployments/our-4o/chat/completions");
    assert!(
        sent.head.starts_with(
            "post /openai/deployments/our-4o/chat/completions?api-version=2024-10-21 "
        )
    );
    assert!(sent.head.contains("\r\napi-key: the-key\r\n") && !sent.head.contains("authorization"));

    for (api, path, body) in [
        (AzureApi::Chat, "/openai/v1/chat/completions", chat()),
        (
            AzureApi::Responses,
            "/openai/v1/responses",
            json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]}),
        ),
    ] {
        let (sent, response) = asked(body, |server| {
            let model = ProviderModel::azure(server.url("/openai/v1/"), "ours", api);
            model.with_token(|| async { Ok(AccessToken::new("entra")) })
        })
        .await;
        assert_eq!(
            (sent.path.as_str(), response.provider.as_str()),
            (path, "azure")
        );
        assert_eq!(sent.body["model"], "ours");
        assert!(sent.head.contains("\r\nauthorization: bearer entra\r\n"));
        assert!(!sent.head.contains("api-key"));
    }

    // Another deployment that a request names, and vectors.
    let server = Server::always(answer(
        "200 OK",
        "application/json",
        r#"{"data": [{"embedding": [1]}]}"#,
    ))
    .await;
    let model = ProviderModel::azure(server.url(""), "vectors", api).with_key("k");
    model.embed(&["hi".into()]).await.unwrap();
    assert_eq!(
        server.requests()[0].path,
        "/openai/deployments/vectors/embeddings"
    );
    let error = ProviderModel::azure("https://ours.openai.azure.com", "x", AzureApi::Chat)
        .complete(&hi())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind.clone(), error.to_string().as_str()),
        (
            LlmErrorKind::Auth,
            "no key for `azure`; set AZURE_OPENAI_API_KEY, or give one with `with_key`"
        )
    );
}

#[tokio::test]
async fn what_the_filter_of_azure_found_is_kept() {
    let prompt = json!([{"prompt_index": 0, "content_filter_results": {"jailbreak": {"filtered": false, "detected": false}}}]);
    let safe = json!({"hate": {"filtered": false, "severity": "safe"}});
    let hate = json!({"hate": {"filtered": true, "severity": "high"}});
    let mut whole = chat();
    whole["prompt_filter_results"] = prompt.clone();
    whole["choices"][0]["content_filter_results"] = safe.clone();
    let at_azure = |server: &Server| {
        ProviderModel::azure(server.url(""), "x", AzureApi::Chat).with_key("the-key")
    };
    let (_, response) = asked(whole, at_azure).await;
    assert_eq!(response.meta["prompt_filter_results"], prompt);
    assert_eq!(response.meta["content_filter_results"], safe);

    let server = Server::always(vec![
        events(),
        event(&json!({"choices": [], "prompt_filter_results": prompt})),
        event(&json!({"choices": [{"delta": {"content": "o"}, "content_filter_results": safe}]})),
        event(&json!({"choices": [{"delta": {"content": "k"}, "content_filter_results": hate}]})),
        event(&json!({"choices": [{"delta": {}, "content_filter_results": safe, "finish_reason": "content_filter"}]})),
        end(),
    ])
    .await;
    let stream = at_azure(&server).stream(&hi()).await.unwrap();
    let response = stream.into_response().await.unwrap();
    assert_eq!(response.text(), "ok");
    assert_eq!(response.finish, Some(FinishReason::ContentFilter));
    assert_eq!(response.meta["prompt_filter_results"], prompt);
    assert_eq!(
        response.meta["content_filter_results"], hate,
        "filtered once is filtered"
    );

    let filters = json!([{"source_type": "prompt", "blocked": false}]);
    let responses = json!({
        "status": "completed", "content_filters": filters,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    });
    let (_, response) = asked(responses, |server| {
        ProviderModel::azure(server.url(""), "x", AzureApi::Responses).with_key("k")
    })
    .await;
    assert_eq!(response.meta["content_filters"], filters);

    let refusal = json!({"error": {
        "message": "The prompt was filtered", "code": "content_filter", "status": 400,
        "innererror": {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {
            "hate": {"filtered": false, "severity": "safe"},
            "jailbreak": {"filtered": true, "detected": true},
            "violence": {"filtered": true, "severity": "high"},
        }},
    }});
    let server = Server::always(answer("400 No", "application/json", &refusal.to_string())).await;
    let error = at_azure(&server).complete(&hi()).await.unwrap_err();
    let expected = "its content filter found jailbreak, violence: The prompt was filtered";
    assert_eq!(
        error.to_string(),
        format!("provider `azure` blocked the prompt: {expected}")
    );
    let LlmErrorKind::Blocked { response } = error.kind else {
        panic!("{error}");
    };
    assert_eq!(response.finish_message.as_deref(), Some(expected));
}

/// The model at Vertex AI with this server in place of the host.
fn vertex(server: &Server, model: &str) -> ProviderModel {
    ProviderModel::vertex("our-project", "europe-west4", model)
        .with_base_url(server.url("/v1/projects/our-project/locations/europe-west4"))
        .with_token(|| async { Ok(AccessToken::new("google")) })
}

const BEFORE: &str = "/v1/projects/our-project/locations/europe-west4/publishers";

#[tokio::test]
async fn claude_at_vertex_has_its_model_in_the_path() {
    let (sent, response) = asked(claude(), |server| vertex(server, "claude-sonnet-4-6")).await;
    assert_eq!(
        sent.path,
        format!("{BEFORE}/anthropic/models/claude-sonnet-4-6:rawPredict")
    );
    assert!(sent.head.contains("\r\nauthorization: bearer google\r\n"));
    assert!(!sent.head.contains("anthropic-version") && !sent.head.contains("x-api-key"));
    assert_eq!(sent.body["anthropic_version"], "vertex-2023-10-16");
    assert_eq!(
        (sent.body.get("model"), sent.body.get("stream")),
        (None, None)
    );
    assert_eq!(
        (response.provider.as_str(), response.model.as_str()),
        ("vertex", "claude-sonnet-4-6")
    );

    let server = Server::always(vec![
        events(),
        event(&json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ok"}})),
        event(&json!({"type": "message_stop"})),
        end(),
    ])
    .await;
    let model = vertex(&server, "claude-sonnet-4-5@20250929");
    let stream = model.stream(&hi()).await.unwrap();
    assert_eq!(stream.into_response().await.unwrap().text(), "ok");
    let sent = server.requests().remove(0);
    let path = "anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict";
    assert_eq!(sent.path, format!("{BEFORE}/{path}"));
    assert_eq!(
        (sent.body.get("model"), &sent.body["stream"]),
        (None, &json!(true))
    );

    let server = Server::always(answer(
        "200 OK",
        "application/json",
        r#"{"input_tokens": 9}"#,
    ))
    .await;
    let count = vertex(&server, "claude-sonnet-4-6")
        .count_tokens(&hi())
        .await
        .unwrap();
    let sent = server.requests().remove(0);
    assert_eq!((count.tokens, count.exact), (9, true));
    assert_eq!(
        sent.path,
        format!("{BEFORE}/anthropic/models/count-tokens:rawPredict")
    );
    assert_eq!(sent.body["model"], "claude-sonnet-4-6");
}

#[tokio::test]
async fn the_model_of_a_request_decides_the_format_at_vertex() {
    for (client, requested, reply, path) in [
        (
            "gemini-2.5-flash",
            "claude-sonnet-4-6",
            claude(),
            "anthropic/models/claude-sonnet-4-6:rawPredict",
        ),
        (
            "claude-sonnet-4-6",
            "gemini-2.5-flash",
            gemini(),
            "google/models/gemini-2.5-flash:generateContent",
        ),
    ] {
        let server = Server::always(answer("200 OK", "application/json", &reply.to_string())).await;
        let request = LlmRequest {
            model: Some(requested.into()),
            ..hi()
        };
        let response = vertex(&server, client).complete(&request).await.unwrap();
        assert_eq!(response.text(), "ok");
        assert_eq!(server.requests()[0].path, format!("{BEFORE}/{path}"));
    }
}

#[tokio::test]
async fn gemini_at_vertex_has_the_paths_of_its_publisher() {
    let (sent, _) = asked(gemini(), |server| vertex(server, "gemini-2.5-flash")).await;
    assert_eq!(
        sent.path,
        format!("{BEFORE}/google/models/gemini-2.5-flash:generateContent")
    );
    assert!(sent.head.contains("\r\nauthorization: bearer google\r\n"));

    let server = Server::start(|number, _| match number {
        0 => vec![events(), event(&gemini()), end()],
        1 => answer("200 OK", "application/json", r#"{"totalTokens": 3}"#),
        _ => answer(
            "200 OK",
            "application/json",
            r#"{"predictions": [{"embeddings": {"values": [0.5]}}]}"#,
        ),
    })
    .await;
    let model = vertex(&server, "gemini-2.5-flash");
    let stream = model.stream(&hi()).await.unwrap();
    assert_eq!(stream.into_response().await.unwrap().text(), "ok");
    assert_eq!(model.count_tokens(&hi()).await.unwrap().tokens, 3);
    let model = vertex(&server, "gemini-embedding-001");
    assert_eq!(
        model.embed(&["a".into(), "b".into()]).await.unwrap(),
        [[0.5], [0.5]]
    );
    let sent = server.requests();
    assert!(
        sent[0].head.contains(":streamgeneratecontent?alt=sse "),
        "{}",
        sent[0].head
    );
    assert!(
        sent[1]
            .path
            .ends_with("google/models/gemini-2.5-flash:countTokens")
    );
    assert_eq!(
        sent[1].body,
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
    );
    assert!(
        sent[2]
            .path
            .ends_with("google/models/gemini-embedding-001:predict")
    );
    assert_eq!(sent[3].body, json!({"instances": [{"content": "b"}]}));
}

#[tokio::test]
async fn signatures_of_claude_go_to_vertex_and_those_of_gemini_do_not() {
    let thought = |provider: &str| {
        let text = json!({"text": "hm", "signature": "signed", "origin": {"provider": provider}});
        let thought: Text = serde_json::from_value(text).unwrap();
        let parts = vec![Part::Thought(thought), Part::text("So.")];
        LlmRequest::new(vec![
            ChatMessage::user("Go."),
            ChatMessage::new(Role::Assistant, parts),
            ChatMessage::user("On."),
        ])
    };
    for (model, provider, body, is_sent) in [
        ("claude-sonnet-4-6", "anthropic", claude(), true),
        ("gemini-3-pro", "gemini", gemini(), false),
        ("gemini-3-pro", "vertex", gemini(), true),
    ] {
        let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
        vertex(&server, model)
            .complete(&thought(provider))
            .await
            .unwrap();
        assert_eq!(
            server.requests()[0].text.contains("signed"),
            is_sent,
            "{model} {provider}"
        );
    }
}

#[tokio::test]
async fn vertex_needs_a_token() {
    let error = ProviderModel::vertex("ours", "global", "gemini-2.5-flash");
    let error = error.complete(&hi()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Auth);
    assert_eq!(
        error.to_string(),
        "no token for `vertex`; give a callback that fetches one with `with_token`"
    );
}
