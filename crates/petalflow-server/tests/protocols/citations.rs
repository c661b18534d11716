//! The sources that an answer cites, in the protocols that have a place for them.

use axum::Router;
use axum::http::StatusCode;
use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::native::{Citation, Source};
use petalflow_llm::{ChatMessage, LlmResponse, Part, Reply, Role, ScriptedModel};
use petalflow_server::Server;
use serde_json::{Value, json};

use crate::kit::{Response, call};

/// An agent whose answers cite a page and a file.
fn agent() -> Agent {
    let cited = |range, source| {
        Part::Citation(Citation {
            range,
            ..Citation::of(source)
        })
    };
    let page = Source::Web {
        url: "https://trees.example".into(),
        title: Some("Old trees".into()),
    };
    let file = Source::File {
        id: Some("file-1".into()),
        name: Some("trees.txt".into()),
    };
    let parts = vec![
        Part::text("Über "),
        Part::text("4,857 years old."),
        cited(Some(0..11), page),
        cited(None, file),
    ];
    let response = LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, parts)),
        ..LlmResponse::default()
    };
    Agent::new(ScriptedModel::from_fn(move |_| {
        Reply::from(response.clone())
    }))
    .streaming()
}

fn served() -> Router {
    let server = Server::builder(&InMemoryStore::new()).agent("guide", &agent());
    let server = server.threads(TriggerAuth::None).openai().ag_ui();
    server.build().expect("the settings are right").router()
}

async fn post(router: &Router, path: &str, body: Value) -> Response {
    let response = call(router, "POST", path, body).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    response
}

/// The events of a response that is streamed.
fn events(response: &Response) -> Vec<Value> {
    let lines = response.text.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

#[tokio::test]
async fn f44_5_a_chat_completion_has_annotations() {
    let router = served();
    let page = json!({"url": "https://trees.example", "title": "Old trees", "start_index": 5, "end_index": 16});
    let expected = json!([{"type": "url_citation", "url_citation": page}]);
    let body = json!({"model": "guide", "messages": [{"role": "user", "content": "How old?"}]});
    let whole = post(&router, "/v1/chat/completions", body.clone())
        .await
        .json();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "Über 4,857 years old.");
    assert_eq!(message["annotations"], expected);

    let mut streamed = body;
    streamed["stream"] = true.into();
    let streamed = events(&post(&router, "/v1/chat/completions", streamed).await);
    let annotations: Vec<&Value> = streamed
        .iter()
        .filter_map(|chunk| chunk.pointer("/choices/0/delta/annotations"))
        .collect();
    assert_eq!(annotations, [&expected]);
}

#[tokio::test]
async fn f44_5_a_response_has_annotations() {
    let router = served();
    let expected = json!([
        {"type": "url_citation", "url": "https://trees.example", "title": "Old trees", "start_index": 5, "end_index": 16},
        {"type": "file_citation", "file_id": "file-1", "filename": "trees.txt", "index": 21},
    ]);
    let body = json!({"model": "guide", "input": "How old?"});
    let whole = post(&router, "/v1/responses", body.clone()).await.json();
    assert_eq!(whole["output"][0]["content"][0]["annotations"], expected);

    let mut streamed = body;
    streamed["stream"] = true.into();
    let streamed = events(&post(&router, "/v1/responses", streamed).await);
    let of = |kind: &'static str| streamed.iter().filter(move |event| event["type"] == kind);
    let added: Value = of("response.output_text.annotation.added")
        .map(|event| event["annotation"].clone())
        .collect();
    assert_eq!(added, expected);
    let done = of("response.output_item.done")
        .next()
        .expect("an item ends");
    assert_eq!(done["item"]["content"][0]["annotations"], expected);
}

#[tokio::test]
async fn f44_5_a_run_of_ag_ui_has_an_event_with_the_sources() {
    let router = served();
    let body = json!({"threadId": "t", "runId": "r", "state": {}, "messages": [{"id": "m", "role": "user", "content": "How old?"}]});
    let events = events(&post(&router, "/ag-ui/guide", body).await);
    let of_citations: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "CUSTOM" && event["name"] == "citations")
        .collect();
    assert_eq!(of_citations.len(), 1, "{events:?}");
    assert_eq!(
        of_citations[0]["value"],
        json!([
            {"start": 5, "end": 16, "source": {"web": {"url": "https://trees.example", "title": "Old trees"}}},
            {"start": 5, "end": 21, "source": {"file": {"id": "file-1", "name": "trees.txt"}}},
        ])
    );
}
