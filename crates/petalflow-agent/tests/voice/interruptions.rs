//! A person who speaks while the model speaks, or while its tools run.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::FuncTool;
use petalflow_llm_test_support::voice::{BYTES_PER_MS, call, message};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{agent, open, play, refund, texts, words};

const ANSWER: &str = "It is open until six, and on Sundays until noon.";

#[tokio::test]
async fn f44_voice_an_interruption_ends_the_answer_where_it_was_heard() {
    let (_server, mut session, mut provider) = open().await;
    let store = InMemoryStore::new();
    let agent = agent(&session);
    let thread = agent.store(&store).thread("call");
    provider.says("u1", "Is it open?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(thread.run(said).into_future());
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    provider.speaks("resp_1", "msg_1", ANSWER, 2_400).await;
    // A second of it is played, while the rest of the response may still arrive.
    for _ in 0..50 {
        session.loudspeaker.next_frame().await.unwrap();
    }
    provider.speech_starts("u2").await;
    let cancel = provider.next().await;
    assert_eq!(cancel["type"], "response.cancel");
    assert_eq!(cancel["response_id"], "resp_1");
    assert_eq!(session.loudspeaker.try_next_frame(), None, "it is silent");
    // What arrives after it is not played.
    provider.speaks("resp_1", "msg_1", " Goodbye.", 600).await;
    provider
        .done("resp_1", "cancelled", vec![message("msg_1", ANSWER)])
        .await;
    let truncate = provider.next().await;
    assert_eq!(truncate["type"], "conversation.item.truncate");
    assert_eq!(truncate["item_id"], "msg_1");
    let ms = truncate["audio_end_ms"].as_u64().unwrap();
    assert_eq!(ms, 1_000);
    assert_eq!(
        session.loudspeaker.try_next_frame(),
        None,
        "it stays silent"
    );

    let talk = turn.await.unwrap().unwrap().into_finished().unwrap();
    let answer = &talk.events[1];
    assert!(answer.interrupted);
    assert_eq!(answer.text(), "It is open until");
    assert_eq!(answer.meta["heard_ms"], 1_000);
    assert_eq!(answer.usage.unwrap().output_audio, 80, "it is paid for");

    // The next turn begins with what was said, and the session has what was heard.
    provider.speech_ends("u2").await;
    provider.transcribed("u2", "And on Mondays?").await;
    let said = words(&mut session.utterances).await;
    let played = play(session.loudspeaker);
    let (talk, request) = tokio::join!(
        thread.run(said).into_future(),
        provider.answers(2, "Closed.", 100)
    );
    let talk = talk.unwrap().into_finished().unwrap();
    assert_eq!(
        texts(&talk),
        [
            "user: Is it open?",
            "agent: It is open until",
            "user: And on Mondays?",
            "agent: Closed.",
        ]
    );
    assert_eq!(request["type"], "response.create");
    assert_eq!(
        provider.texts(),
        [
            "user input_audio",
            "assistant 1000 ms of audio",
            "user input_audio",
            "assistant Closed.",
        ]
    );
    drop((agent, session.model, session.microphone, thread));
    assert_eq!(played.await.unwrap(), 100 * BYTES_PER_MS);
}

#[tokio::test]
async fn f44_voice_an_answer_that_has_arrived_is_interrupted_while_it_is_played() {
    let (_server, mut session, mut provider) = open().await;
    let agent = agent(&session);
    provider.says("u1", "Is it open?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(agent.run(said).into_future());
    provider.answers(1, ANSWER, 2_400).await;
    for _ in 0..90 {
        session.loudspeaker.next_frame().await.unwrap();
    }
    provider.speech_starts("u2").await;
    let truncate = provider.next().await;
    assert_eq!(truncate["type"], "conversation.item.truncate");
    assert_eq!(truncate["audio_end_ms"], 1_800);
    let talk = turn.await.unwrap().unwrap();
    assert!(talk.events[1].interrupted);
    assert_eq!(talk.answer(), "It is open until six, and on Sundays");
    assert_eq!(talk.usage().tokens.output_audio, 80);

    // A cough has no words: nobody is asked.
    provider.speech_ends("u2").await;
    provider.transcribed("u2", " ").await;
    provider.says("u3", "Thanks.").await;
    assert_eq!(words(&mut session.utterances).await, "Thanks.");
}

#[tokio::test]
async fn f44_voice_an_answer_of_which_nothing_was_heard_leaves_no_message() {
    let (_server, mut session, mut provider) = open().await;
    let agent = agent(&session);
    provider.says("u1", "Is it open?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(agent.run(said).into_future());
    provider.answers(1, ANSWER, 2_400).await;
    provider.speech_starts("u2").await;
    let talk = turn.await.unwrap().unwrap();
    assert!(talk.events[1].interrupted && talk.events[1].message.is_none());
    provider.speech_ends("u2").await;
    provider.transcribed("u2", "Hello?").await;
    let said = words(&mut session.utterances).await;
    let played = play(session.loudspeaker);
    let (talk, _) = tokio::join!(
        agent.run(talk.next_input(said)).into_future(),
        provider.answers(2, "Hello!", 100)
    );
    assert_eq!(talk.unwrap().answer(), "Hello!");
    let texts = provider.texts();
    assert_eq!(
        texts,
        ["user input_audio", "user input_audio", "assistant Hello!"]
    );
    played.abort();
}

#[tokio::test]
async fn f44_voice_a_call_of_an_interrupted_response_is_not_made() {
    let (_server, mut session, mut provider) = open().await;
    let (refund, ran) = refund();
    let agent = agent(&session).tool(refund);
    let played = play(session.loudspeaker);
    provider.says("u1", "Pay order 7 back.").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(agent.run(said).into_future());
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    provider.speech_starts("u2").await;
    assert_eq!(provider.next().await["type"], "response.cancel");
    // It was too late for the provider.
    let output = vec![call("call_1", "refund", &json!({ "order": 7 }))];
    provider.done("resp_1", "completed", output).await;
    let talk = turn.await.unwrap().unwrap();
    assert!(talk.events[1].interrupted);
    assert!(talk.pending().is_empty());

    provider.speech_ends("u2").await;
    provider.transcribed("u2", "No, order 8!").await;
    let said = words(&mut session.utterances).await;
    let answer = async {
        provider.next_of("response.create").await;
        let texts = provider.texts();
        assert_eq!(texts, ["user input_audio", "user input_audio"]);
        provider.response("resp_2").await;
        let output = vec![call("call_2", "refund", &json!({ "order": 8 }))];
        provider.done("resp_2", "completed", output).await;
        provider.answers(3, "Done.", 100).await;
    };
    let (talk, ()) = tokio::join!(agent.run(talk.next_input(said)).into_future(), answer);
    let talk = talk.unwrap();
    assert_eq!(talk.answer(), "Done.");
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    played.abort();
}

#[tokio::test]
async fn f44_voice_who_speaks_while_a_tool_runs_is_answered_next() {
    let (_server, mut session, mut provider) = open().await;
    let (started, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let look = {
        let (started, finish) = (Arc::clone(&started), Arc::clone(&finish));
        FuncTool::new("look", "Looks.", move |_: Value| {
            let (started, finish) = (Arc::clone(&started), Arc::clone(&finish));
            async move {
                started.notify_one();
                finish.notified().await;
                Ok("in stock")
            }
        })
    };
    let agent = agent(&session).tool(look);
    let played = play(session.loudspeaker);
    provider.says("u1", "Do you have petals?").await;
    let said = words(&mut session.utterances).await;
    let turn = tokio::spawn(agent.run(said).into_future());
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    let output = vec![call("call_1", "look", &json!({}))];
    provider.done("resp_1", "completed", output).await;
    started.notified().await;
    provider.speech_starts("u2").await;
    provider.read().await;
    finish.notify_one();
    // The turn goes on when it is known what was said.
    provider.speech_ends("u2").await;
    provider.transcribed("u2", "Red ones.").await;
    let talk = turn.await.unwrap().unwrap();
    assert!(talk.events.last().unwrap().interrupted);

    let said = words(&mut session.utterances).await;
    let (talk, _) = tokio::join!(
        agent.run(talk.next_input(said)).into_future(),
        provider.answers(2, "Yes, red ones.", 100)
    );
    assert_eq!(talk.unwrap().answer(), "Yes, red ones.");
    let requests = provider.events.iter();
    let requests = requests.filter(|event| event["type"] == "response.create");
    assert_eq!(requests.count(), 2);
    assert_eq!(
        provider.texts(),
        [
            "user input_audio",
            r#"call "look" "{}""#,
            r#"output "in stock""#,
            "user input_audio",
            "assistant Yes, red ones.",
        ]
    );
    played.abort();
}
