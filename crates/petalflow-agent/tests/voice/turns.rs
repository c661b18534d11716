//! Turns that are heard and spoken.

use std::sync::atomic::Ordering;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::{ConversationInput, Pending};
use petalflow_llm_test_support::voice::{BYTES_PER_MS, call, message};
use serde_json::json;
use tokio::time::timeout;

use super::{agent, open, play, refund, texts, words};

#[tokio::test]
async fn f44_voice_a_turn_hears_and_speaks() {
    let (_server, mut session, mut provider) = open().await;
    assert_eq!(provider.path, "/v1/realtime?model=gpt-realtime");
    assert_eq!(provider.authorization, "Bearer sk-of-mine");
    let input = &provider.setup["audio"]["input"];
    assert_eq!(
        input["format"],
        json!({ "type": "audio/pcm", "rate": 24_000 })
    );
    assert_eq!(input["turn_detection"]["create_response"], false);
    assert_eq!(input["transcription"]["model"], "gpt-4o-mini-transcribe");

    session.microphone.send(&[1; 960]).await.unwrap();
    let long = vec![2; 100_000];
    session.microphone.send(&long).await.unwrap();
    let odd = session.microphone.send(&[0; 3]).await.unwrap_err();
    assert!(odd.to_string().contains("3 bytes"), "{odd}");
    provider.hear(100_960).await;
    assert_eq!(provider.heard[..960], [1; 960]);
    assert_eq!(provider.heard[960..], long);

    provider.says("u1", "Is it open today?\n").await;
    let first = session.utterances.next().await.unwrap().unwrap();
    assert_eq!(
        (&*first.text, first.is_transcribed),
        ("Is it open today?", true)
    );
    assert_eq!((first.usage.input_audio, first.usage.output), (13, 9));

    let store = InMemoryStore::new();
    let agent = agent(&session);
    let thread = agent.store(&store).thread("call");
    let mut turn = tokio::spawn(thread.run(first.text).into_future());
    let request = provider.answers(1, "Until six.", 500).await;
    assert_eq!(
        request["response"]["instructions"],
        "You answer the telephone of a shop."
    );
    assert_eq!(
        provider.events.len(),
        2,
        "what was said is not sent again: {:?}",
        provider.events
    );

    // The turn lasts until the answer was heard.
    let early = timeout(Duration::from_millis(300), &mut turn).await;
    assert!(early.is_err(), "it was not played");
    let mut heard = 0;
    while let Some(frame) = session.loudspeaker.try_next_frame() {
        assert_eq!(frame.len(), 20 * BYTES_PER_MS);
        heard += frame.len();
    }
    assert_eq!(heard, 500 * BYTES_PER_MS);
    let talk = turn.await.unwrap().unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "Until six.");
    assert!(!talk.events[1].interrupted);

    // Tokens of audio, and their prices: a cached one has the price of cached ones.
    let usage = talk.events[1].usage.unwrap();
    assert_eq!((usage.input, usage.output, usage.total), (200, 100, 300));
    assert_eq!(
        (usage.input_audio, usage.output_audio, usage.cached),
        (120, 80, 64)
    );
    let cost = 64.0 * 0.5 + 56.0 * 32.0 + 80.0 * 4.0 + 80.0 * 64.0 + 20.0 * 16.0;
    assert!((usage.cost - cost / 1e6).abs() < 1e-12, "{}", usage.cost);

    let played = play(session.loudspeaker);
    provider.says("u2", "Thank you.").await;
    let thanks = words(&mut session.utterances).await;
    let (talk, _) = tokio::join!(
        thread.run(thanks).into_future(),
        provider.answers(2, "Bye!", 300)
    );
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(
        texts(&talk),
        [
            "user: Is it open today?",
            "agent: Until six.",
            "user: Thank you.",
            "agent: Bye!"
        ]
    );
    assert_eq!(provider.events.len(), 3, "nothing is sent twice");

    // The session ends with its model and its microphone.
    drop((agent, session.model, session.microphone, thread));
    assert_eq!(provider.try_next().await, None);
    assert_eq!(played.await.unwrap(), 300 * BYTES_PER_MS);
    assert!(session.utterances.next().await.is_none());
}

#[tokio::test]
async fn f44_voice_a_call_waits_for_an_approval_and_is_made_once() {
    let (_server, mut session, mut provider) = open().await;
    let (refund, ran) = refund();
    let agent = agent(&session).tool(refund.confirm_if(|_| Some("Pay it back?".into())));
    let played = play(session.loudspeaker);
    provider.says("u1", "Order 7 was late.").await;
    let said = words(&mut session.utterances).await;
    let store = InMemoryStore::new();
    let thread = agent.store(&store).thread("call");

    let asks = async {
        let request = provider.next_of("response.create").await;
        let tool = &request["response"]["tools"][0];
        assert_eq!(
            (&tool["type"], &tool["name"]),
            (&json!("function"), &json!("refund"))
        );
        provider.response("resp_1").await;
        provider
            .speaks("resp_1", "msg_1", "I ask for it.", 400)
            .await;
        let output = vec![
            message("msg_1", "I ask for it."),
            call("call_1", "refund", &json!({ "order": 7 })),
        ];
        provider.done("resp_1", "completed", output).await;
    };
    let (talk, ()) = tokio::join!(thread.run(said).into_future(), asks);
    let talk = talk.unwrap().into_finished().unwrap();
    let pending = talk.pending();
    let [Pending::Confirmation { id, hint, call, .. }] = &*pending else {
        panic!("a person must decide: {pending:?}");
    };
    assert_eq!(
        (&**hint, &call.arguments),
        ("Pay it back?", &json!({ "order": 7 }))
    );
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    assert_eq!(talk.events[1].text(), "I ask for it.");

    // The answer comes from a screen. The next turn is spoken.
    let approved = ConversationInput::default().confirm(id, true);
    let (talk, _) = tokio::join!(
        thread.run(approved).into_future(),
        provider.answers(2, "It is paid back.", 300)
    );
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "It is paid back.");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let texts = provider.texts();
    assert_eq!(texts[0], "user input_audio", "its audio was kept");
    assert_eq!(
        &texts[1..],
        [
            "assistant I ask for it.",
            r#"call "refund" "{\"order\":7}""#,
            r#"output "{\"paid\":7}""#,
            "assistant It is paid back.",
        ]
    );
    drop((agent, session.model, session.microphone, thread));
    assert_eq!(played.await.unwrap(), 700 * BYTES_PER_MS);
}
