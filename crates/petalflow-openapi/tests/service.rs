//! A service of the tests.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::response::Response;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSet};
use petalflow_openapi::OpenApi;
use serde_json::{Value, json};

/// A request that the service has received.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The path and the query as they were sent.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The body as a text.
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

/// A part of a form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) content: Vec<u8>,
}

impl Part {
    pub(crate) fn text(name: &str, content: &str) -> Self {
        Part {
            name: name.into(),
            file_name: None,
            content_type: None,
            content: content.into(),
        }
    }

    pub(crate) fn file(name: &str, file_name: &str, content_type: &str, content: &[u8]) -> Self {
        Part {
            name: name.into(),
            file_name: Some(file_name.into()),
            content_type: Some(content_type.into()),
            content: content.into(),
        }
    }
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(it, _)| it == name)
            .map(|(_, value)| value.as_str())
    }

    /// The parts of the body, as a server reads a form of parts.
    pub(crate) async fn parts(&self) -> Vec<Part> {
        let content_type = self.header("content-type").unwrap();
        let request = Request::post("/").header("content-type", content_type);
        let request = request.body(Body::from(self.bytes.clone())).unwrap();
        let mut form = Multipart::from_request(request, &()).await.unwrap();
        let mut parts = Vec::new();
        while let Some(field) = form.next_field().await.unwrap() {
            parts.push(Part {
                name: field.name().unwrap().into(),
                file_name: field.file_name().map(Into::into),
                content_type: field.content_type().map(Into::into),
                content: field.bytes().await.unwrap().into(),
            });
        }
        parts
    }

    /// The request as JSON.
    pub(crate) fn echo(&self) -> Value {
        json!({ "method": self.method, "target": self.target, "body": self.body })
    }
}

/// A service that runs until the test ends.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Service {
    /// Answers with what the function returns: it gets the request, and how many there were before.
    pub(crate) async fn start<F>(
        answer: impl Fn(Seen, usize) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response> + Send,
    {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let all = Arc::clone(&seen);
        let handler = move |request: Request| {
            let (answer, all) = (answer.clone(), Arc::clone(&all));
            async move {
                let request = received(request).await;
                let before = {
                    let mut all = all.lock().unwrap();
                    all.push(request.clone());
                    all.len() - 1
                };
                answer(request, before).await
            }
        };
        let app = Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Service { address, seen }
    }

    /// Answers with the request.
    pub(crate) async fn echo() -> Self {
        Service::start(async |seen, _| json_response(200, &seen.echo())).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The only request.
    pub(crate) fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

async fn received(request: Request) -> Seen {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 4 << 20).await.unwrap();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.to_string(), value)
    });
    Seen {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        headers: headers.collect(),
        body: String::from_utf8_lossy(&body).into_owned(),
        bytes: body.into(),
    }
}

pub(crate) fn response(status: u16, headers: &[(&str, &str)], body: impl Into<Body>) -> Response {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.into()).unwrap()
}

pub(crate) fn json_response(status: u16, value: &Value) -> Response {
    response(
        status,
        &[("content-type", "application/json")],
        value.to_string(),
    )
}

/// A document with these paths.
pub(crate) fn document(paths: Value) -> Value {
    json!({ "openapi": "3.1.0", "info": { "title": "Books", "version": "1" }, "paths": paths })
}

/// A service with these paths, all of whose operations are tools that no person confirms.
pub(crate) fn api(service: &Service, paths: Value) -> OpenApi {
    let api = OpenApi::from_value(document(paths)).unwrap();
    api.server(&service.url())
        .filter(|_| true)
        .confirm(|_, _| None)
}

pub(crate) async fn call(
    tools: &ToolSet,
    name: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let tool = tools
        .get(name)
        .unwrap_or_else(|| panic!("no tool `{name}`"));
    tool.call(arguments, &ToolContext::new("call-1")).await
}
