//! The OpenAPI document, as tools of others read it: a validator, and generators of clients.

mod document;
mod keys;
mod python;
mod schemathesis;
mod typescript;

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use petalflow_documents::Services;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_memory::{InMemory, Memory};
use petalflow_server::{A2a, Schedule, ServerBuilder};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::kit::{graph, send, with_token, work};
use crate::mcp::kit::{Served, Slow};

/// A server with all that has addresses.
fn builder() -> ServerBuilder {
    builder_with(&Slow::default())
}

/// A server with all that has addresses, and this slow flow.
fn builder_with(slow: &Slow) -> ServerBuilder {
    let schedule = Schedule::new("morning", "refunds", "0 9 * * *").input(json!({ "cents": 7 }));
    let services = Services::new();
    crate::mcp::kit::builder(slow)
        .document(graph(with_token(), &[work_without_code()]), &services)
        .schedule(schedule)
        .memory(Memory::new(InMemory::new()))
        .openai()
        .a2a(A2a::new("https://agents.example.com"))
        .ag_ui()
}

/// A node that needs no function.
fn work_without_code() -> Value {
    let mut node = work();
    node["type"] = "noop".into();
    node
}

/// The document of a server.
async fn document(served: &Served) -> Value {
    let request = Request::get("/openapi.json")
        .header("x-token", "secret")
        .body(Body::empty())
        .expect("a request");
    send(&served.server.router(), request).await.json()
}

/// Runs a program of others to its end.
async fn run(program: &mut Command) -> Output {
    let output = program.kill_on_drop(true).output();
    let output = tokio::time::timeout(Duration::from_mins(5), output).await;
    output.expect("in time").expect("it starts")
}

/// What a program has printed. Fails if the program has failed.
fn printed(output: &Output) -> String {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("it is written");
}

/// A server whose trigger needs no token has no scheme for it.
fn open_builder() -> ServerBuilder {
    builder().threads(TriggerAuth::None)
}
