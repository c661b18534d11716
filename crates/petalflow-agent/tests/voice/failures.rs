//! Errors of the provider and connections that are lost.

use std::sync::atomic::Ordering;

use petalflow::checkpoint::InMemoryStore;
use petalflow_llm::voice::{VoiceSession, VoiceSettings};
use petalflow_llm::{LlmErrorKind, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step};
use petalflow_llm_test_support::voice::call;
use serde_json::json;

use super::{agent, model, open, play, refund, words};

#[tokio::test]
async fn f44_voice_a_connection_that_is_cut_in_a_response_never_acts_twice() {
    let (mut server, mut session, mut provider) = open().await;
    let (refund, ran) = refund();
    let store = InMemoryStore::new();
    let thread = agent(&session).tool(refund).store(&store).thread("call");
    let played = play(session.loudspeaker);
    provider.says("u1", "Pay order 7 back.").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(thread.run(said).into_future());

    // The call has arrived whole. The response has not.
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    provider.speaks("resp_1", "msg_1", "I pay it ", 100).await;
    let arguments = json!({ "order": 7 });
    let done = json!({
        "type": "response.function_call_arguments.done",
        "response_id": "resp_1",
        "item_id": "item_call_1",
        "output_index": 1,
        "call_id": "call_1",
        "name": "refund",
        "arguments": arguments.to_string(),
    });
    provider.send(done).await;
    provider.read().await;
    provider.cut();
    let error = turn.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("connection"), "{error}");
    assert_eq!(ran.load(Ordering::SeqCst), 0);

    // The turn goes on in another session.
    let mut provider = server.connection().await;
    let answers = async {
        provider.next_of("response.create").await;
        assert_eq!(provider.texts(), ["user Pay order 7 back."]);
        provider.response("resp_2").await;
        let output = vec![call("call_2", "refund", &arguments)];
        provider.done("resp_2", "completed", output).await;
        // The connection is cut before any content: the request is sent again.
        provider.next_of("response.create").await;
        provider.cut();
        let mut provider = server.connection().await;
        provider.answers(3, "It is paid.", 100).await;
        assert_eq!(
            provider.texts(),
            [
                "user Pay order 7 back.",
                r#"call "refund" "{\"order\":7}""#,
                r#"output "{\"paid\":7}""#,
                "assistant It is paid.",
            ]
        );
        provider
    };
    let (talk, _provider) = tokio::join!(thread.resume(()).into_future(), answers);
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "It is paid.");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    played.abort();
}

#[tokio::test]
async fn f44_voice_an_error_event_fails_the_turn_and_not_the_session() {
    let (mut server, mut session, mut provider) = open().await;
    let store = InMemoryStore::new();
    let thread = agent(&session).store(&store).thread("call");
    let played = play(session.loudspeaker);

    // One that belongs to no request is reported, and the session goes on.
    let empty = json!({
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "code": "input_audio_buffer_commit_empty",
            "message": "Error committing input audio buffer: buffer too small.",
            "param": null,
            "event_id": null,
        },
    });
    provider.send(empty).await;
    let reported = session.utterances.next().await.unwrap().unwrap_err();
    assert!(
        reported.to_string().contains("buffer too small"),
        "{reported}"
    );

    provider.says("u1", "Hello?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(thread.run(said).into_future());
    let request = provider.next_of("response.create").await;
    let refused = json!({
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "code": "invalid_value",
            "message": "Invalid value: 'response.tools'.",
            "param": "response.tools",
            "event_id": request["event_id"],
        },
    });
    provider.send(refused).await;
    let error = turn.await.unwrap().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Invalid value: 'response.tools'."),
        "{error}"
    );
    assert_eq!(
        provider.try_next().await,
        None,
        "what it has is not known any more"
    );

    let mut provider = server.connection().await;
    let (talk, _) = tokio::join!(
        thread.resume(()).into_future(),
        provider.answers(2, "Hello!", 100)
    );
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "Hello!");
    assert_eq!(provider.texts(), ["user Hello?", "assistant Hello!"]);
    played.abort();
}

#[tokio::test]
async fn f44_voice_a_response_that_fails_says_why() {
    let (_server, session, mut provider) = open().await;
    let agent = agent(&session);
    let turn = tokio::spawn(agent.run("Hello?").into_future());
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    let failed = json!({
        "type": "response.done",
        "response": {
            "object": "realtime.response",
            "id": "resp_1",
            "status": "failed",
            "status_details": {
                "type": "failed",
                "error": {
                    "type": "invalid_request_error",
                    "code": "inference_rate_limit_exceeded",
                    "message": "Rate limit reached for gpt-realtime.",
                },
            },
            "output": [],
            "usage": null,
        },
    });
    provider.send(failed).await;
    let error = turn.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("Rate limit reached"), "{error}");
}

#[tokio::test]
async fn f44_voice_a_turn_that_is_stopped_leaves_nothing_in_the_session() {
    let (_server, mut session, mut provider) = open().await;
    let agent = agent(&session);
    provider.says("u1", "Is it open?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(agent.run(said).into_future());
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    provider.speaks("resp_1", "msg_1", "Until six.", 900).await;
    session.loudspeaker.next_frame().await.unwrap();
    turn.abort();
    assert_eq!(provider.next().await["type"], "response.cancel");
    assert_eq!(session.loudspeaker.try_next_frame(), None);
    provider.done("resp_1", "cancelled", Vec::new()).await;
    let played = play(session.loudspeaker);
    let (talk, _) = tokio::join!(
        agent.run("Is it open?").into_future(),
        provider.answers(2, "Until six.", 100)
    );
    assert_eq!(talk.unwrap().answer(), "Until six.");
    assert_eq!(
        provider.texts(),
        ["user input_audio", "assistant Until six."]
    );
    played.abort();
}

#[tokio::test]
async fn f44_voice_a_wrong_key_ends_the_session_and_is_not_shown() {
    let body = json!({ "error": {
        "message": "Incorrect API key provided: sk-of-mine.",
        "type": "invalid_request_error",
        "code": "invalid_api_key",
    }})
    .to_string();
    let answer = format!(
        "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let server = Server::always(vec![Step::Send(answer.into_bytes())]).await;
    let model = ProviderModel::openai_compatible(server.url("/v1"), "gpt-realtime");
    let model = model.with_key("sk-of-mine");
    let mut session = VoiceSession::open(model, VoiceSettings::new()).unwrap();
    let error = session.utterances.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Auth);
    assert!(error.to_string().contains("Incorrect API key"), "{error}");
    assert!(!error.to_string().contains("sk-of-mine"), "{error}");
    assert!(session.utterances.next().await.is_none());
    assert_eq!(session.loudspeaker.next_frame().await, None);
    let error = agent(&session).run("Hello?").await.unwrap_err();
    assert!(error.to_string().contains("Incorrect API key"), "{error}");
    session.microphone.send(&[0; 2]).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn f44_voice_a_setting_that_the_provider_refuses_ends_the_session() {
    let mut server = petalflow_llm_test_support::voice::VoiceServer::start().await;
    let settings = VoiceSettings::new().with_voice("nobody");
    let mut session = VoiceSession::open(model(&server), settings).unwrap();
    let mut provider = server.connection().await;
    let refused = json!({
        "type": "error",
        "error": {
            "type": "invalid_request_error",
            "code": "invalid_value",
            "message": "Invalid value: 'nobody'.",
            "event_id": provider.events[0]["event_id"],
        },
    });
    provider.send(refused).await;
    let error = session.utterances.next().await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("Invalid value: 'nobody'."),
        "{error}"
    );
    assert!(session.utterances.next().await.is_none());
}

#[tokio::test]
async fn f44_voice_a_provider_without_sessions_is_refused_at_once() {
    let model = ProviderModel::new("claude-sonnet-4-6").unwrap();
    let error = VoiceSession::open(model, VoiceSettings::new()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`anthropic` has no voice sessions"),
        "{error}"
    );
}
