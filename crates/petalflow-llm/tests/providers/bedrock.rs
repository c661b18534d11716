//! Models at Bedrock: `Converse` and `ConverseStream`, what gives access, errors by the names of exceptions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::request::{Effort, PromptCache, ToolChoice};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    AwsCredentials, ChatMessage, LlmClient, LlmErrorKind, LlmRequest, LlmResponse, Part,
    ProviderModel, Role,
};
use petalflow_llm_test_support::server::{Server, Step, answer, with_headers};
use serde_json::{Value, json};

use super::bedrock_events::{delta, frame, start, stop};

const CLAUDE: &str = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA: &str = "amazon.nova-micro-v1:0";

fn hi() -> LlmRequest {
    LlmRequest::prompt("hi")
}

fn said(content: Value, stop: &str) -> Value {
    json!({
        "output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop,
        "usage": {"inputTokens": 2, "outputTokens": 5, "totalTokens": 7}, "metrics": {"latencyMs": 3},
    })
}

fn ok() -> Vec<Step> {
    answer(
        "200 OK",
        "application/json",
        &said(json!([{"text": "ok"}]), "end_turn").to_string(),
    )
}

fn at(server: &Server, model: &str) -> ProviderModel {
    let model = ProviderModel::bedrock("eu-central-1", model).without_retry();
    model.with_base_url(server.url("")).with_key("the-key")
}

async fn asked(model: &str, body: &Value, request: &LlmRequest) -> (Value, LlmResponse) {
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let response = at(&server, model).complete(request).await.unwrap();
    (server.requests().remove(0).body, response)
}

/// The body in pieces of this length.
fn streamed(frames: &[Vec<u8>], piece: usize) -> Vec<Step> {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nconnection: close\r\n\r\n";
    let body = frames.concat();
    let pieces = body.chunks(piece).map(|piece| Step::Send(piece.to_vec()));
    [Step::Send(head.to_vec())]
        .into_iter()
        .chain(pieces)
        .collect()
}

async fn streams(steps: Vec<Step>) -> Result<LlmResponse, petalflow_llm::LlmError> {
    let server = Server::always(steps).await;
    at(&server, CLAUDE)
        .stream(&hi())
        .await?
        .into_response()
        .await
}

#[tokio::test]
async fn a_request_is_signed_or_has_a_key() {
    let server = Server::always(ok()).await;
    at(&server, CLAUDE).complete(&hi()).await.unwrap();
    let sent = server.requests().remove(0);
    assert_eq!(
        sent.path,
        format!("/model/{}/converse", CLAUDE.replace(':', "%3A"))
    );
    assert!(sent.head.contains("\r\nauthorization: bearer the-key\r\n"));
    assert_eq!(
        sent.body,
        json!({"messages": [{"role": "user", "content": [{"text": "hi"}]}]})
    );

    let credentials =
        AwsCredentials::new("AKIDEXAMPLE", "very-secret").with_session_token("of-session");
    let model = at(
        &server,
        "arn:aws:bedrock:eu-central-1:1:inference-profile/x",
    )
    .with_aws_credentials(move || std::future::ready(Ok(credentials.clone())));
    model.complete(&hi()).await.unwrap();
    let sent = server.requests().remove(1);
    assert!(sent.path.starts_with("/model/arn%3Aaws%3A") && sent.path.contains("profile%2Fx/"));
    let head = sent.head;
    assert!(
        head.contains("authorization: aws4-hmac-sha256 credential=akidexample/"),
        "{head}"
    );
    assert!(head.contains("/eu-central-1/bedrock/aws4_request") && head.contains("x-amz-date: "));
    assert!(head.contains("x-amz-security-token: of-session\r\n") && !head.contains("very-secret"));
}

#[tokio::test]
async fn credentials_that_have_expired_are_replaced_once() {
    let expired = r#"{"message": "The security token included in the request is expired"}"#;
    let server = Server::start(move |number, _| match number {
        0 => answer("403 Forbidden", "application/json", expired),
        _ => ok(),
    })
    .await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = at(&server, NOVA).with_aws_credentials(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok(AwsCredentials::new(format!("AKID{number}"), "very-secret")) }
    });
    assert_eq!(model.complete(&hi()).await.unwrap().text(), "ok");
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(server.requests()[1].head.contains("credential=akid1/"));
}

#[tokio::test]
async fn credentials_are_renewed_before_they_expire() {
    let server = Server::always(ok()).await;
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = at(&server, NOVA).with_aws_credentials(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let credentials = AwsCredentials::new(format!("AKID{number}"), "very-secret");
        async move { Ok(credentials.expires_at(SystemTime::now() + Duration::from_hours(1))) }
    });
    model.complete(&hi()).await.unwrap();
    // Their clock is that of tokio. No connection is open while it is moved.
    let pass = async |seconds| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(seconds)).await;
        tokio::time::resume();
    };
    pass(3_530).await;
    model.complete(&hi()).await.unwrap();
    assert_eq!(
        calls.load(Ordering::SeqCst),
        1,
        "more than a minute is left"
    );
    pass(11).await;
    model.complete(&hi()).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert!(server.requests()[2].head.contains("credential=akid1/"));

    let expired = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&expired);
    let model = at(&server, NOVA).with_aws_credentials(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        let credentials = AwsCredentials::new("AKID", "very-secret");
        async move { Ok(credentials.expires_at(SystemTime::UNIX_EPOCH)) }
    });
    model.complete(&hi()).await.unwrap();
    model.complete(&hi()).await.unwrap();
    assert_eq!(expired.load(Ordering::SeqCst), 2, "both have expired");
}

#[tokio::test]
async fn a_request_has_the_blocks_of_converse() {
    let tool = ToolSpec::new("find", "Finds", json!({"type": "object", "properties": {}}));
    let media = |media_type: &str| {
        Part::Media(Media {
            media_type: media_type.into(),
            source: MediaSource::Base64("aGk=".into()),
            origin: None,
        })
    };
    let first = said(
        json!([
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "signed"}}},
            {"reasoningContent": {"redactedContent": "aGlkZGVu"}},
            {"toolUse": {"toolUseId": "s1", "name": "interpreter", "input": {"x": 1}, "type": "server_tool_use"}},
            {"toolResult": {"toolUseId": "s1", "content": [{"json": {"y": 2}}], "type": "interpreter_result"}},
            {"text": "Calling."},
            {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"n": 1}}},
        ]),
        "tool_use",
    );
    let user = ChatMessage::new(
        Role::User,
        vec![
            Part::text("See."),
            media("image/png"),
            media("application/pdf"),
        ],
    );
    let request = LlmRequest {
        system: Some("Be brief.".into()),
        tool_choice: ToolChoice::Required,
        max_tokens: Some(500),
        stop: vec!["END".into()],
        ..LlmRequest::new(vec![user]).with_tools([Arc::new(tool)])
    };
    let (_, response) = asked(CLAUDE, &first, &request).await;
    assert_eq!(response.finish, Some(FinishReason::ToolCalls));
    assert_eq!(
        (response.text().as_str(), response.calls().count()),
        ("Calling.", 1)
    );
    let mut messages = request.messages_with(&response);
    messages.push(ChatMessage::results(vec![ToolResult {
        call_id: "t1".into(),
        name: "find".into(),
        content: json!("gone"),
        is_error: true,
    }]));
    messages.push(ChatMessage::user("And now?"));
    let next = LlmRequest {
        messages: messages.into(),
        prompt_cache: PromptCache::Long,
        extra: json!({"guardrailConfig": {"guardrailIdentifier": "g1"}})
            .as_object()
            .unwrap()
            .clone(),
        ..request
    };
    let (sent, _) = asked(CLAUDE, &said(json!([{"text": "ok"}]), "end_turn"), &next).await;
    let point = json!({"cachePoint": {"type": "default", "ttl": "1h"}});
    assert_eq!(sent["system"], json!([{"text": "Be brief."}, point]));
    assert_eq!(
        sent["inferenceConfig"],
        json!({"maxTokens": 500, "stopSequences": ["END"]})
    );
    assert_eq!(
        sent["guardrailConfig"],
        json!({"guardrailIdentifier": "g1"})
    );
    assert_eq!(sent["toolConfig"]["toolChoice"], json!({"any": {}}));
    assert_eq!(sent["toolConfig"]["tools"][0]["toolSpec"]["name"], "find");
    assert_eq!(sent["toolConfig"]["tools"][1], point);
    assert_eq!(
        sent["messages"][0]["content"],
        json!([
            {"text": "See."},
            {"image": {"format": "png", "source": {"bytes": "aGk="}}},
            {"document": {"format": "pdf", "source": {"bytes": "aGk="}, "name": "document 1"}},
        ])
    );
    assert_eq!(
        sent["messages"][1]["content"], first["output"]["message"]["content"],
        "it comes back as it was"
    );
    let results = json!([
        {"toolResult": {"toolUseId": "t1", "content": [{"text": "{\"error\":\"gone\"}"}], "status": "error"}},
        {"text": "And now?"}, point,
    ]);
    assert_eq!(
        sent["messages"][2],
        json!({"role": "user", "content": results}),
        "roles alternate"
    );
}

#[tokio::test]
async fn f42_a_model_that_can_do_without_reasoning_is_not_asked_for_it() {
    let text = said(json!([{"text": "Bern"}]), "end_turn");
    for (model, effort, level) in [
        ("us.amazon.nova-2-lite-v1:0", Effort::None, None),
        ("us.amazon.nova-2-lite-v1:0", Effort::Budget(0), None),
        ("us.amazon.nova-2-lite-v1:0", Effort::Minimal, Some("low")),
        ("us.amazon.nova-2-lite-v1:0", Effort::XHigh, Some("high")),
    ] {
        let request = LlmRequest {
            effort: Some(effort),
            ..hi()
        };
        let (sent, _) = asked(model, &text, &request).await;
        let fields = level.map(
            |level| json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": level}}),
        );
        let sent = sent.get("additionalModelRequestFields");
        assert_eq!(sent, fields.as_ref(), "{model} {effort:?}");
    }
    // This one always reasons.
    let request = LlmRequest {
        effort: Some(Effort::None),
        ..hi()
    };
    let (sent, _) = asked("openai.gpt-oss-120b-1:0", &text, &request).await;
    assert_eq!(
        sent["additionalModelRequestFields"],
        json!({"reasoning_effort": "low"})
    );
}

#[tokio::test]
async fn reasoning_and_schemas_are_asked_for_as_each_model_takes_them() {
    let thinking = LlmRequest {
        effort: Some(Effort::Budget(2_000)),
        ..hi()
    };
    let text = said(json!([{"text": "{\"city\": \"Bern\"}"}]), "end_turn");
    let (sent, _) = asked(CLAUDE, &text, &thinking).await;
    let fields = json!({"thinking": {"type": "enabled", "budget_tokens": 2_000}});
    assert_eq!(sent["additionalModelRequestFields"], fields);
    assert!(sent["inferenceConfig"]["maxTokens"].as_u64() > Some(2_000));
    let (sent, _) = asked("us.amazon.nova-2-lite-v1:0", &text, &thinking).await;
    let fields = json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "low"}});
    assert_eq!(sent["additionalModelRequestFields"], fields);

    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false,
    });
    let (sent, response) = asked(CLAUDE, &text, &hi().with_schema(schema.clone())).await;
    let sent = &sent["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"];
    let sent: Value = serde_json::from_str(sent.as_str().unwrap()).unwrap();
    assert_eq!(
        (sent, response.json),
        (schema.clone(), Some(json!({"city": "Bern"})))
    );
    let call =
        json!([{"toolUse": {"toolUseId": "t", "name": "answer", "input": {"city": "Bern"}}}]);
    let (sent, response) = asked(NOVA, &said(call, "tool_use"), &hi().with_schema(schema)).await;
    assert_eq!(
        sent["toolConfig"]["toolChoice"],
        json!({"tool": {"name": "answer"}})
    );
    assert_eq!(response.json, Some(json!({"city": "Bern"})));
}

#[tokio::test]
async fn a_stream_is_read_in_pieces_of_any_length() {
    let frames = [
        frame("event", "messageStart", &json!({"role": "assistant"})),
        delta(0, &json!({"reasoningContent": {"text": "h"}})),
        delta(0, &json!({"reasoningContent": {"text": "m"}})),
        delta(0, &json!({"reasoningContent": {"signature": "signed"}})),
        stop(0),
        delta(
            1,
            &json!({"reasoningContent": {"redactedContent": "aGlkZGVu"}}),
        ),
        stop(1),
        start(
            2,
            &json!({"toolUse": {"toolUseId": "s1", "name": "interpreter", "type": "server_tool_use"}}),
        ),
        delta(2, &json!({"toolUse": {"input": "{\"x\""}})),
        delta(2, &json!({"toolUse": {"input": ": 1}"}})),
        stop(2),
        start(3, &json!({"toolResult": {"toolUseId": "s1"}})),
        delta(3, &json!({"toolResult": [{"json": {"y": 2}}]})),
        stop(3),
        delta(4, &json!({"text": "Cal"})),
        delta(4, &json!({"text": "ling."})),
        stop(4),
        start(5, &json!({"toolUse": {"toolUseId": "t1", "name": "find"}})),
        delta(5, &json!({"toolUse": {"input": "{\"n\": 1}"}})),
        stop(5),
        frame("event", "messageStop", &json!({"stopReason": "tool_use"})),
        frame(
            "event",
            "metadata",
            &json!({
                "usage": {
                    "inputTokens": 2, "outputTokens": 5, "totalTokens": 1_347, "cacheReadInputTokens": 40,
                    "cacheWriteInputTokens": 1_300, "cacheDetails": [{"inputTokens": 300, "ttl": "1h"}, {"inputTokens": 1_000, "ttl": "5m"}],
                },
                "trace": {"guardrail": {"actionReason": "No action."}},
            }),
        ),
    ];
    for piece in [1, 7, 100_000] {
        let response = streams(streamed(&frames, piece)).await.unwrap();
        assert_eq!(
            (response.text().as_str(), response.finish.as_ref()),
            ("Calling.", Some(&FinishReason::ToolCalls))
        );
        let call = response.calls().next().unwrap();
        assert_eq!(
            (&*call.id, &*call.name, &call.arguments),
            ("t1", "find", &json!({"n": 1}))
        );
        let usage = response.usage;
        assert_eq!((usage.input, usage.output, usage.total), (1_342, 5, 1_347));
        assert_eq!(
            (usage.cached, usage.cache_writes, usage.cache_writes_1h),
            (40, 1_300, 300)
        );
        assert_eq!(
            response.meta["trace"]["guardrail"]["actionReason"],
            "No action."
        );
        let next = LlmRequest::new(hi().messages_with(&response));
        let (sent, _) = asked(CLAUDE, &said(json!([{"text": "ok"}]), "end_turn"), &next).await;
        let back = sent["messages"][0]["content"].as_array().unwrap().clone();
        assert_eq!(
            back[0],
            json!({"reasoningContent": {"reasoningText": {"text": "hm", "signature": "signed"}}})
        );
        assert_eq!(
            back[1],
            json!({"reasoningContent": {"redactedContent": "aGlkZGVu"}})
        );
        assert_eq!(back[2]["toolUse"]["input"], json!({"x": 1}));
        assert_eq!(
            back[3],
            json!({"toolResult": {"toolUseId": "s1", "content": [{"json": {"y": 2}}]}})
        );
    }
    // Cut anywhere, it is no answer.
    let whole = frames.concat();
    for length in [10, whole.len() / 2, whole.len() - 200 - frames[21].len()] {
        let error = streams(streamed(&[whole[..length].to_vec()], 512)).await;
        assert!(error.is_err(), "{length}");
    }
    let mut broken = whole;
    broken[20] ^= 1;
    let error = streams(streamed(&[broken], 512)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Malformed);
}

#[tokio::test]
async fn errors_have_the_names_of_exceptions() {
    let body = r#"{"message": "Too many requests"}"#;
    let headers = "content-type: application/json\r\nx-amzn-errortype: ThrottlingException:http://internal\r\n";
    let server = Server::always(with_headers("429 Too Many Requests", headers, body)).await;
    let error = at(&server, NOVA).complete(&hi()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::RateLimited { retry_after: None });
    assert!(
        error
            .to_string()
            .ends_with("ThrottlingException: Too many requests"),
        "{error}"
    );

    let begun = [
        frame("event", "messageStart", &json!({"role": "assistant"})),
        delta(0, &json!({"text": "Hel"})),
    ];
    for (name, is_transient) in [
        ("throttlingException", true),
        ("modelStreamErrorException", true),
        ("serviceUnavailableException", true),
        ("validationException", false),
    ] {
        let failure = frame("exception", name, &json!({"message": "no more"}));
        let frames = [begun.as_slice(), &[failure]].concat();
        let error = streams(streamed(&frames, 64)).await.unwrap_err();
        assert_eq!(error.is_transient(), is_transient, "{name}");
        assert!(
            error.to_string().ends_with(&format!("{name}: no more")),
            "{error}"
        );
    }
    let stopped = said(json!([{"text": "I cannot."}]), "guardrail_intervened");
    let (_, response) = asked(NOVA, &stopped, &hi()).await;
    assert_eq!(response.finish, Some(FinishReason::ContentFilter));
}

/// The next request after an answer with a signed thought and a call, as it is loaded from a store.
fn next_request(request: &LlmRequest, response: &LlmResponse) -> LlmRequest {
    let mut messages = request.messages_with(response);
    messages.push(ChatMessage::results([ToolResult {
        call_id: response.calls().next().expect("a call").id.clone(),
        name: "find".into(),
        content: json!("a leaf"),
        ..ToolResult::default()
    }]));
    let stored = serde_json::to_string(&messages).unwrap();
    LlmRequest::new(serde_json::from_str::<Vec<ChatMessage>>(&stored).unwrap())
}

#[tokio::test]
async fn a_thread_changes_from_bedrock_to_each_family_and_back_without_foreign_signatures() {
    let of_bedrock = said(
        json!([
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "SIG-bedrock"}}},
            {"text": "Let me see."},
            {"toolUse": {"toolUseId": "t1", "name": "find", "input": {"n": 1}}},
        ]),
        "tool_use",
    );
    let (_, response) = asked(CLAUDE, &of_bedrock, &hi()).await;
    let after_bedrock = next_request(&hi(), &response);
    let families = [
        (
            "claude-sonnet-4-6",
            json!({"id": "m", "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 5}, "content": [
                {"type": "thinking", "thinking": "hm", "signature": "SIG-other"},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t2", "name": "find", "input": {"n": 1}},
            ]}),
        ),
        (
            "gemini-2.5-flash",
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "Let me see."},
                {"functionCall": {"name": "find", "args": {"n": 1}}, "thoughtSignature": "SIG-other"},
            ]}}]}),
        ),
        (
            "gpt-5-mini",
            json!({"id": "r", "status": "completed", "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "SIG-other"},
                {"type": "message", "id": "m_1", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
                {"type": "function_call", "id": "f_1", "call_id": "t2", "name": "find", "arguments": "{\"n\":1}"},
            ]}),
        ),
    ];
    for (name, body) in families {
        let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
        let model = ProviderModel::new(name).unwrap().without_retry();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let response = model.complete(&after_bedrock).await.unwrap();
        let sent = server.requests().remove(0).text;
        assert!(
            sent.contains("Let me see.")
                && sent.contains("a leaf")
                && !sent.contains("SIG-bedrock"),
            "{name}: {sent}"
        );
        let back = next_request(&after_bedrock, &response);
        let (sent, _) = asked(CLAUDE, &of_bedrock, &back).await;
        let sent = sent.to_string();
        assert!(
            sent.contains("SIG-bedrock") && !sent.contains("SIG-other"),
            "from {name}: {sent}"
        );
        assert_eq!(
            sent.matches("Let me see.").count(),
            2,
            "from {name}: {sent}"
        );
    }
}
