//! Sessions that end, and others that continue their conversations.

use petalflow::checkpoint::InMemoryStore;
use petalflow_llm::voice::{VoiceSession, VoiceSettings};
use serde_json::json;

use super::{agent, model, open, play, words};

#[tokio::test]
async fn f44_voice_after_sixty_minutes_another_session_has_the_conversation() {
    let (mut server, mut session, mut provider) = open().await;
    let store = InMemoryStore::new();
    let thread = agent(&session).store(&store).thread("call");
    let played = play(session.loudspeaker);
    provider.says("u1", "Is it open?").await;
    let said = words(&mut session.utterances).await;
    let (first, _) = tokio::join!(
        thread.run(said).into_future(),
        provider.answers(1, "Until six.", 100)
    );
    first.unwrap().into_finished().unwrap();
    provider.expire().await;

    // Nobody notices it.
    let mut provider = server.connection().await;
    provider.says("u2", "And tomorrow?").await;
    let said = words(&mut session.utterances).await;
    let (talk, _) = tokio::join!(
        thread.run(said).into_future(),
        provider.answers(2, "Until noon.", 100)
    );
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(talk.answer(), "Until noon.");
    assert_eq!(
        provider.texts(),
        [
            "user Is it open?",
            "assistant Until six.",
            "user input_audio",
            "assistant Until noon.",
        ],
        "what was said in this session has its audio"
    );
    played.abort();
}

#[tokio::test]
async fn f44_voice_a_written_turn_is_spoken_too() {
    let (_server, session, mut provider) = open().await;
    let agent = agent(&session);
    let played = play(session.loudspeaker);
    let (talk, _) = tokio::join!(
        agent.run("Is it open?").into_future(),
        provider.answers(1, "Until six.", 100)
    );
    assert_eq!(talk.unwrap().answer(), "Until six.");
    assert_eq!(
        provider.texts(),
        ["user Is it open?", "assistant Until six."]
    );
    played.abort();
}

#[tokio::test]
async fn f44_voice_without_a_loudspeaker_no_turn_waits_for_it() {
    let (_server, session, mut provider) = open().await;
    let agent = agent(&session);
    drop(session.loudspeaker);
    let (talk, _) = tokio::join!(
        agent.run("Is it open?").into_future(),
        provider.answers(1, "Until six.", 5_000)
    );
    assert_eq!(talk.unwrap().answer(), "Until six.");
}

#[tokio::test]
async fn f44_voice_a_button_says_where_the_person_ends() {
    let mut server = petalflow_llm_test_support::voice::VoiceServer::start().await;
    let settings = VoiceSettings::new()
        .with_voice("marin")
        .without_turn_detection();
    let mut session = VoiceSession::open(model(&server), settings).unwrap();
    let mut provider = server.connection().await;
    assert_eq!(provider.setup["audio"]["output"]["voice"], "marin");
    assert!(provider.setup["audio"]["input"]["turn_detection"].is_null());
    session.microphone.send(&[1; 9_600]).await.unwrap();
    session.microphone.end_of_speech().await.unwrap();
    assert_eq!(provider.next().await["type"], "input_audio_buffer.commit");
    assert_eq!(provider.heard.len(), 9_600);
    provider.speech_ends("u1").await;
    let failed = json!({
        "type": "conversation.item.input_audio_transcription.failed",
        "item_id": "u1",
        "content_index": 0,
        "error": { "type": "transcription_error", "code": "audio_unintelligible" },
    });
    provider.send(failed).await;
    let utterance = session.utterances.next().await.unwrap().unwrap();
    assert!(!utterance.is_transcribed);
    // The model of this session has heard it.
    let agent = agent(&session);
    let played = play(session.loudspeaker);
    let (talk, _) = tokio::join!(
        agent.run(utterance.text).into_future(),
        provider.answers(1, "Please say it again.", 100)
    );
    assert_eq!(talk.unwrap().answer(), "Please say it again.");
    assert_eq!(
        provider.texts(),
        ["user input_audio", "assistant Please say it again."]
    );
    played.abort();
}
