//! A node that asks a server which repeats the key: neither the events of the run nor its error have it.

use petalflow::prelude::*;
use petalflow_llm::ChatMessage;
use petalflow_llm::nodes::{Llm, Model};
use petalflow_llm_test_support::server::{Server, answer};

use super::{Format, KEY, WORDS, chat, gemini, messages, responses};

#[state]
#[derive(Debug)]
struct Chat {
    #[key(input, append)]
    messages: Vec<ChatMessage>,
}

flow! {
    Converse(Chat) {
        START -> think -> END;
        node think: Llm<ChatMessages> = Llm::new("Be short.");
    }
}

async fn events_and_error(format: &Format, status: u16) -> String {
    let echo = (format.error)(status, &format!("{WORDS}, {KEY}")).to_string();
    let steps = answer(&format!("{status} No"), "application/json", &echo);
    let server = Server::always(steps).await;
    let run = || {
        let model = (format.model)(&server).with_key(KEY).without_retry();
        let launch = Converse::new().manage(Model::new(model));
        launch.run(vec![ChatMessage::user("hi")])
    };
    let mut events = run().events();
    let mut seen = String::new();
    while let Some(event) = events.next().await {
        seen = format!("{seen}\n{event:?}");
    }
    let failed = run().await;
    format!("{seen}\n{:?}", failed.unwrap_err())
}

#[tokio::test]
async fn the_events_of_a_run_and_its_error_do_not_have_the_key() {
    for format in [
        chat::FORMAT,
        responses::FORMAT,
        messages::FORMAT,
        gemini::FORMAT,
    ] {
        for status in [200, 401, 500] {
            let seen = events_and_error(&format, status).await;
            assert!(seen.contains(WORDS) && seen.contains("***"), "{seen}");
            assert!(!seen.contains(KEY), "{seen}");
        }
    }
}
