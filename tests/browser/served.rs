//! The server under test, in this process.

use std::net::SocketAddr;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::Store;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{Server, ServerBuilder};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

/// The token that the server asks for.
pub(crate) const TOKEN: &str = "token-of-the-test";
const HEADER: &str = "X-PetalFlow-Token";

/// The server of the example, with the flow of the tests. It asks for the token.
pub(crate) fn builder(store: &(impl Store + Clone)) -> ServerBuilder {
    let header = TriggerAuth::HeaderToken {
        header: HEADER.into(),
        token: TOKEN.into(),
    };
    builder_with(store, header)
}

/// The same, with another authentication.
pub(crate) fn builder_with(store: &(impl Store + Clone), auth: TriggerAuth) -> ServerBuilder {
    let example = petalflow_studio_example::server(store, auth).expect("the document is right");
    example
        .serve_flow(crate::flows::served())
        .event_log(100_000)
}

/// A server that accepts connections.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    server: Server,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Served {
    pub(crate) async fn start(builder: ServerBuilder) -> Self {
        let server = builder.build().expect("the settings are right");
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(server.clone().serve(listener, async {
            let _ = stopped.await;
        }));
        Served {
            address,
            server,
            stop,
            serving,
        }
    }

    /// Stops it as a signal would.
    pub(crate) async fn stop(self) {
        // The server may have failed before.
        let _ = self.stop.send(());
        let served = self.serving.await.expect("it does not panic");
        served.expect("it serves until it is stopped");
    }

    /// Sends a request without a connection.
    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> (StatusCode, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HEADER, TOKEN)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .expect("a request");
        let response = self.server.router().oneshot(request).await;
        let response = response.expect("no error");
        let status = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await;
        let text = String::from_utf8(body.expect("a body").to_vec());
        (status, text.expect("text"))
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, text) = self.call("GET", path, Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Starts a thread, and returns its id.
    pub(crate) async fn thread(&self, flow: &str, body: Value) -> String {
        let path = format!("/flows/{flow}/threads");
        let (status, text) = self.call("POST", &path, body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{text}");
        let started: Value = serde_json::from_str(&text).expect("JSON");
        started["thread"].as_str().expect("it has an id").to_owned()
    }

    /// Waits until no run of the thread is in progress, and returns the thread.
    pub(crate) async fn settled(&self, thread: &str) -> Value {
        // The stream of events ends with the run.
        self.call("GET", &format!("/threads/{thread}/events"), Value::Null)
            .await;
        self.get(&format!("/threads/{thread}")).await
    }
}
