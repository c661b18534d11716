//! Typed answers while a model writes them, over server-sent events.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::stream::StreamEvent;
use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream};
use petalflow_server::Server;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::kit::{call, get, wait_until_settled};

#[derive(Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Recipe {
    title: String,
    minutes: u32,
}

/// A model that writes what the test sends, and ends when the test drops its end.
struct Writer(Arc<Mutex<Option<mpsc::UnboundedReceiver<&'static str>>>>);

#[petalflow::async_trait]
impl LlmClient for Writer {
    fn name(&self) -> &'static str {
        "writer"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        unreachable!("the agent streams")
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let mut pieces = self.0.lock().unwrap().take().expect("it is asked once");
        let pieces = futures_util::stream::poll_fn(move |cx| pieces.poll_recv(cx));
        let pieces = pieces.map(|piece| Ok(StreamEvent::Delta(piece.into())));
        Ok(LlmStream::new(request, pieces))
    }
}

/// The messages of a stream of events.
struct Messages {
    body: axum::body::BodyDataStream,
    text: String,
}

impl Messages {
    async fn of(router: &Router, last_seen: Option<&str>) -> Self {
        let mut request = Request::get("/threads/cook:a/events");
        if let Some(last_seen) = last_seen {
            request = request.header("last-event-id", last_seen);
        }
        let request = request.body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        Messages {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    /// The kind, the id and the data of the next message.
    async fn next(&mut self) -> Option<(String, Option<String>, Value)> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = message.lines();
                    lines
                        .find_map(|line| line.strip_prefix(name))
                        .map(|it| it.trim().to_string())
                };
                let found = (field("event:"), field("id:"), field("data:"));
                self.text = rest.to_string();
                if let (Some(kind), id, Some(data)) = found {
                    return Some((kind, id, serde_json::from_str(&data).unwrap()));
                }
                continue;
            }
            let more = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&more).unwrap());
        }
    }

    /// The next partial answer.
    async fn partial(&mut self) -> Value {
        loop {
            let (kind, id, data) = self.next().await.expect("the run goes on");
            if kind == "partial_output" {
                assert_eq!(id, None, "the last event of the log stays the last one");
                assert_eq!(
                    (&data["kind"], &data["agent"]),
                    (&json!("partial_output"), &json!("cook"))
                );
                assert_eq!(data["task"]["node"], "ask");
                return data["value"].clone();
            }
        }
    }
}

#[tokio::test]
async fn f44_4_a_typed_answer_is_sent_while_the_model_writes_it() {
    let (pieces, written) = mpsc::unbounded_channel();
    let model = Writer(Arc::new(Mutex::new(Some(written))));
    let agent = Agent::new(model)
        .name("cook")
        .output::<Recipe>()
        .streaming();
    let builder = Server::builder(&InMemoryStore::new())
        .agent("cook", &agent)
        .threads(TriggerAuth::None);
    let router = builder.build().expect("the settings are right").router();
    let body = json!({ "id": "a", "input": "Pancakes." });
    let thread = call(&router, "POST", "/flows/cook/threads", body)
        .await
        .thread();
    let mut events = Messages::of(&router, None).await;

    pieces.send(r#"{"title": "Panca"#).unwrap();
    assert_eq!(events.partial().await, json!({ "title": "Panca" }));
    pieces.send(r#"kes", "minutes": 2"#).unwrap();
    assert_eq!(events.partial().await, json!({ "title": "Pancakes" }));
    // A client that comes back gets the newest one, and no client of the log alone loses anything.
    let mut again = Messages::of(&router, Some("1")).await;
    assert_eq!(again.partial().await, json!({ "title": "Pancakes" }));

    pieces.send("0}").unwrap();
    drop(pieces);
    let (mut stored, mut ended) = (Vec::new(), false);
    while let Some((kind, id, _)) = events.next().await {
        assert!(kind != "partial_output" || !ended, "the task has ended");
        ended |=
            kind == "node_finished" && id.is_some() && stored.iter().any(|kind| kind == "custom");
        stored.push(kind);
    }
    assert_eq!(stored.last().map(String::as_str), Some("finished"));
    let view = wait_until_settled(&router, &thread).await;
    let answer = view["state"]["events"][1]["message"].to_string();
    assert!(
        answer.contains("minutes") && answer.contains("20"),
        "{view}"
    );

    // Of a thread that rests, only the log is there.
    let log = get(&router, "/threads/cook:a/events").await.text;
    assert!(
        log.contains("agent_event") && !log.contains("partial_output"),
        "{log}"
    );
}
