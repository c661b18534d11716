//! Agents whose model hears and speaks, with a server that acts as the provider of the session.

mod failures;
mod interruptions;
mod killed;
mod sessions;
mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::tool::FuncTool;
use petalflow_agent::{Agent, Conversation};
use petalflow_llm::ProviderModel;
use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::voice::{Loudspeaker, Utterances, VoiceSession, VoiceSettings};
use petalflow_llm_test_support::voice::{VoiceConnection, VoiceServer};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The model of a server.
fn model(server: &VoiceServer) -> ProviderModel {
    let price = Price {
        input: 4.0,
        cached: 0.5,
        output: 16.0,
        input_audio: Some(32.0),
        output_audio: Some(64.0),
        ..Price::default()
    };
    ProviderModel::openai_compatible(server.url(), "gpt-realtime")
        .with_key("sk-of-mine")
        .with_prices(Prices::new().with("gpt-realtime", price))
}

/// A server, a session with it, and its connection.
async fn open() -> (VoiceServer, VoiceSession, VoiceConnection) {
    let mut server = VoiceServer::start().await;
    let session = VoiceSession::open(model(&server), VoiceSettings::new()).expect("it has voices");
    let connection = server.connection().await;
    (server, session, connection)
}

/// Plays everything. Returns the number of bytes when the session has ended.
fn play(mut loudspeaker: Loudspeaker) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let mut bytes = 0;
        while let Some(frame) = loudspeaker.next_frame().await {
            bytes += frame.len();
        }
        bytes
    })
}

/// The words of the next utterance.
async fn words(utterances: &mut Utterances) -> String {
    let next = utterances.next().await.expect("the session goes on");
    next.expect("it is an utterance").text
}

/// A tool, and how often it ran.
fn refund() -> (FuncTool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = FuncTool::new("refund", "Pays an order back.", move |arguments: Value| {
        counter.fetch_add(1, Ordering::SeqCst);
        async move { Ok(json!({ "paid": arguments["order"] })) }
    });
    (tool, ran)
}

fn agent(session: &VoiceSession) -> Agent {
    Agent::new(session.model.clone()).instructions("You answer the telephone of a shop.")
}

/// The texts of a conversation, with their authors.
fn texts(talk: &Conversation) -> Vec<String> {
    let events = talk.events.iter();
    let texts = events.map(|event| format!("{}: {}", event.author, event.text()));
    texts.collect()
}
