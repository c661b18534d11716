//! Documents, servers and requests for the tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow_documents::Changes;
use petalflow_documents::Services;
use petalflow_documents::document::{Catalog, GraphDefinition, Source};
use petalflow_documents::kinds::{FuncNode, TriggerAuth};
use petalflow_server::{Server, ServerBuilder};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tower::ServiceExt;

pub(crate) const HOOK: &str = "/workflows/orders/webhooks/incoming";

/// A graph of a trigger with these settings, and of nodes after it.
pub(crate) fn graph(trigger: Value, nodes: &[Value]) -> GraphDefinition {
    let first = json!({ "id": "incoming", "type": "webhook_trigger", "config": trigger });
    let all: Vec<Value> = [first].into_iter().chain(nodes.iter().cloned()).collect();
    let edges: Vec<Value> = all
        .windows(2)
        .map(|pair| json!({ "source": pair[0]["id"], "target": pair[1]["id"] }))
        .collect();
    checked_graph(
        json!({ "id": "orders", "version": "1", "kind": "graph", "nodes": all, "edges": edges }),
    )
}

pub(crate) fn checked_graph(document: Value) -> GraphDefinition {
    let source = Source::new("orders.json", document.to_string());
    let document = source.check(&Catalog::default());
    document
        .expect("the document is right")
        .graph(&Catalog::default())
}

pub(crate) fn with_token() -> Value {
    json!({ "auth": { "type": "header_token", "header": "X-Token", "token": "secret" } })
}

/// A node that counts its runs, after it has waited for a permission.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) begun: Arc<Notify>,
    pub(crate) may_end: Arc<Notify>,
    pub(crate) runs: Arc<AtomicUsize>,
}

impl Work {
    pub(crate) fn new() -> Self {
        Work {
            begun: Arc::default(),
            may_end: Arc::default(),
            runs: Arc::default(),
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    fn node(&self, waits: bool) -> FuncNode {
        let work = self.clone();
        FuncNode::new(move |_| {
            let work = work.clone();
            async move {
                if waits {
                    work.begun.notify_one();
                    work.may_end.notified().await;
                }
                let runs = work.runs.fetch_add(1, Ordering::SeqCst) + 1;
                Ok(Changes::new().var("runs", runs))
            }
        })
    }

    /// The function of the node `work`, which counts.
    pub(crate) fn counting(&self) -> Services {
        Services::new().function("work", self.node(false))
    }

    /// The function of the node `work`, which waits and counts.
    pub(crate) fn waiting(&self) -> Services {
        Services::new().function("work", self.node(true))
    }
}

pub(crate) fn work() -> Value {
    json!({ "id": "work", "type": "func" })
}

/// A server of the trigger and the node `work`, with addresses of threads that need no token.
pub(crate) fn builder(
    store: &(impl Store + Clone),
    trigger: Value,
    services: &Services,
) -> ServerBuilder {
    Server::builder(store)
        .document(graph(trigger, &[work()]), services)
        .threads(TriggerAuth::None)
}

pub(crate) fn server(trigger: Value, services: &Services) -> Server {
    let builder = builder(&InMemoryStore::new(), trigger, services);
    builder.build().expect("the settings are right")
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn error(&self) -> String {
        let error = &self.json()["error"];
        error
            .as_str()
            .unwrap_or_else(|| panic!("{self:?}"))
            .to_owned()
    }

    pub(crate) fn thread(&self) -> String {
        assert_eq!(self.status, StatusCode::ACCEPTED, "{self:?}");
        self.json()["thread"]
            .as_str()
            .expect("it has a thread")
            .to_owned()
    }
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> Response {
    let response = router.clone().oneshot(request).await.expect("no error");
    let (status, headers) = (response.status(), response.headers().clone());
    let body = to_bytes(response.into_body(), usize::MAX)
        .await
        .expect("a body");
    Response {
        status,
        headers,
        text: String::from_utf8(body.to_vec()).expect("text"),
    }
}

/// A request to the trigger, with JSON and these headers.
pub(crate) fn post(headers: &[(&str, &str)], body: impl Into<Body>) -> Request<Body> {
    let request = Request::post(HOOK).header("content-type", "application/json");
    let add = |request: axum::http::request::Builder, (name, value): &(&str, &str)| {
        request.header(*name, *value)
    };
    let request = headers.iter().fold(request, add);
    request.body(body.into()).expect("a request")
}

pub(crate) async fn get(router: &Router, path: &str) -> Response {
    send(
        router,
        Request::get(path).body(Body::empty()).expect("a request"),
    )
    .await
}

/// Sends JSON with this method.
pub(crate) async fn call(router: &Router, method: &str, path: &str, body: Value) -> Response {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    send(
        router,
        request
            .body(Body::from(body.to_string()))
            .expect("a request"),
    )
    .await
}

/// The thread when its run has ended.
pub(crate) async fn wait_until_settled(router: &Router, thread: &str) -> Value {
    // The stream of events ends with the run.
    get(router, &format!("/threads/{thread}/events")).await;
    get(router, &format!("/threads/{thread}")).await.json()
}
