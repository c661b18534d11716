//! Drives a program that handles complaints: over HTTP, with a model that follows a script, through a restart.
//!
//! `service`, `document` and their counterparts by hand have this file as their test.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

const PROPOSAL: &str = "Refund 29 euros.";

#[tokio::test]
async fn a_person_accepts_a_proposal_after_a_restart() -> Result<()> {
    let (folder, model) = (tempfile::tempdir()?, model().await?);
    let mut program = Program::start(folder.path(), &model).await?;
    assert_eq!(
        program
            .send("POST", "/complaints/a", "Vase 17 broke.")
            .await?
            .0,
        202
    );
    assert_eq!(
        program.send("POST", "/complaints/a", "Again.").await?.0,
        409
    );
    let waiting = program.when("/complaints/a", "waiting").await?;
    assert_eq!(waiting["question"], PROPOSAL);

    program.process.kill().await?;
    let program = Program::start(folder.path(), &model).await?;
    assert_eq!(
        program
            .send("POST", "/complaints/a/answer", "true")
            .await?
            .0,
        202
    );
    let finished = program.when("/complaints/a", "finished").await?;
    assert_eq!(finished["reply"], format!("We looked into it. {PROPOSAL}"));
    assert_eq!(finished["question"], Value::Null);
    assert_eq!(
        program
            .send("POST", "/complaints/a/answer", "false")
            .await?
            .0,
        409
    );
    Ok(())
}

#[tokio::test]
async fn a_person_declines_a_proposal() -> Result<()> {
    let (folder, model) = (tempfile::tempdir()?, model().await?);
    let program = Program::start(folder.path(), &model).await?;
    assert_eq!(program.send("GET", "/complaints/b", "").await?.0, 404);
    program
        .send("POST", "/complaints/b", "Vase 17 is dull.")
        .await?;
    program.when("/complaints/b", "waiting").await?;
    assert_eq!(
        program
            .send("POST", "/complaints/b/answer", "false")
            .await?
            .0,
        202
    );
    let finished = program.when("/complaints/b", "finished").await?;
    let reply = "We are sorry that we cannot help you with this: Vase 17 is dull.";
    assert_eq!(finished["reply"], reply);
    Ok(())
}

/// A program that runs until the value is dropped.
struct Program {
    process: Child,
    address: String,
}

impl Program {
    async fn start(folder: &Path, model: &str) -> Result<Self> {
        let program = format!("CARGO_BIN_EXE_{}", env!("CARGO_PKG_NAME"));
        let mut process = Command::new(std::env::var(program)?)
            .args(document()?)
            .arg(folder.join("complaints.db"))
            .arg(model)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().ok_or("the program has no output")?;
        let address = BufReader::new(output)
            .lines()
            .next_line()
            .await?
            .ok_or("no address")?;
        let address = address.strip_prefix("http://").ok_or("no address")?.into();
        Ok(Program { process, address })
    }

    /// The status and the body of the response.
    async fn send(&self, method: &str, path: &str, body: &str) -> Result<(u16, String)> {
        let kind = if path.ends_with("/answer") {
            "application/json"
        } else {
            "text/plain"
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}",
            self.address,
            body.len(),
        );
        let mut connection = TcpStream::connect(&self.address).await?;
        connection.write_all(request.as_bytes()).await?;
        let mut response = String::new();
        connection.read_to_string(&mut response).await?;
        let (head, body) = response.split_once("\r\n\r\n").ok_or("no response")?;
        let status = head.split(' ').nth(1).ok_or("no status")?.parse()?;
        Ok((status, body.into()))
    }

    /// The complaint, as soon as it has the status.
    async fn when(&self, path: &str, status: &str) -> Result<Value> {
        let read = async {
            loop {
                let (_, body) = self.send("GET", path, "").await?;
                let complaint: Value = serde_json::from_str(&body)?;
                if complaint["status"] == status {
                    return Ok(complaint);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), read).await?
    }
}

/// The document in the folder of the program, if there is one.
fn document() -> Result<Option<PathBuf>> {
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR"))? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// A server with a model that looks up an order and a policy before it answers. Returns its address.
async fn model() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let router = Router::new().route("/chat/completions", post(complete));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(url)
}

async fn complete(Json(request): Json<Value>) -> Json<Value> {
    let messages = request["messages"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let results: Vec<&str> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .filter_map(|message| message["content"].as_str())
        .collect();
    let message = match results[..] {
        [] => call("find_order", json!({ "number": 17 })),
        [order] if order.contains("vase") => call("return_policy", json!({ "product": "vase" })),
        [_, policy] if policy.contains("30 days") => json!({ "content": PROPOSAL }),
        _ => json!({ "content": format!("unexpected results: {results:?}") }),
    };
    let mut message = message;
    message["role"] = "assistant".into();
    let reason = if message["tool_calls"].is_null() {
        "stop"
    } else {
        "tool_calls"
    };
    Json(json!({
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    }))
}

fn call(name: &str, arguments: Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": name, "type": "function", "function": function });
    json!({ "content": null, "tool_calls": [call] })
}
