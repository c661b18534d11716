//! A client of rust-analyzer: one server, one file.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

/// How long the server may take: it builds the macros first.
const PATIENCE: Duration = Duration::from_mins(10);

/// A running server, with the package that it has open.
pub(crate) struct Client {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    file: PathBuf,
    version: u64,
    requests: u64,
}

impl Client {
    /// Starts a server on a new package. `None` if rust-analyzer is not installed.
    pub(crate) fn start(text: &str) -> Option<Self> {
        let version = Command::new("rust-analyzer").arg("--version").output();
        if !version.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let package = package(text);
        let mut process = Command::new("rust-analyzer")
            .current_dir(&package)
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_NET_OFFLINE", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("rust-analyzer starts");
        let input = process.stdin.take().expect("it has a standard input");
        let output = process.stdout.take().expect("it has a standard output");
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut client = Client {
            process,
            input,
            messages,
            file: package.join("src/main.rs"),
            version: 1,
            requests: 0,
        };
        client.initialize(&package, text);
        Some(client)
    }

    fn initialize(&mut self, package: &Path, text: &str) {
        self.request(
            "initialize",
            &json!({
                "processId": null,
                "rootUri": uri(package),
                "capabilities": {
                    "general": { "positionEncodings": ["utf-8"] },
                    "workspace": { "workspaceEdit": { "documentChanges": true } },
                    "textDocument": {
                        "completion": { "completionItem": { "snippetSupport": false } },
                        "hover": { "contentFormat": ["markdown"] },
                        "diagnostic": {},
                    },
                    "experimental": { "serverStatusNotification": true },
                },
                "initializationOptions": {
                    "checkOnSave": false,
                    "cachePriming": { "enable": false },
                    // Without it, the server installs the component `rust-src` if it is missing.
                    "cargo": { "sysrootSrc": concat!(env!("CARGO_MANIFEST_DIR"), "/library") },
                },
            }),
        );
        self.notify("initialized", &json!({}));
        self.notify(
            "textDocument/didOpen",
            &json!({ "textDocument": {
                "uri": uri(&self.file), "languageId": "rust", "version": 1, "text": text,
            } }),
        );
        self.await_quiet();
    }

    /// Waits until the server has loaded the package and built its macros.
    fn await_quiet(&mut self) {
        loop {
            let message = self.receive();
            let status = &message["params"];
            if message["method"] == "experimental/serverStatus" && status["quiescent"] == true {
                assert_ne!(status["health"], "error", "rust-analyzer: {status}");
                return;
            }
        }
    }

    /// Replaces the text of the file.
    pub(crate) fn edit(&mut self, text: &str) {
        self.version += 1;
        let document = json!({ "uri": uri(&self.file), "version": self.version });
        let changes = json!([{ "text": text }]);
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// Asks about a position of the file. An error of the server is `Err` with its message.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        (line, character): (usize, usize),
        more: &Value,
    ) -> Result<Value, String> {
        let mut params = json!({
            "textDocument": { "uri": uri(&self.file) },
            "position": { "line": line, "character": character },
        });
        if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
            params.extend(more.clone());
        }
        self.try_request(&format!("textDocument/{method}"), &params)
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.try_request(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    fn try_request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        loop {
            self.requests += 1;
            let id = self.requests;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            let mut answer = self.answer(id);
            let error = &answer["error"];
            // The server was still reading the last edit.
            if error["code"] == -32801 {
                continue;
            }
            return match error["message"].as_str() {
                Some(error) => Err(error.to_owned()),
                None => Ok(answer["result"].take()),
            };
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["method"].is_null() && message["id"] == id {
                return message;
            }
        }
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The next message. Requests of the server are answered with nothing.
    fn receive(&mut self) -> Value {
        let begin = Instant::now();
        loop {
            let message = self
                .messages
                .recv_timeout(PATIENCE.saturating_sub(begin.elapsed()))
                .expect("rust-analyzer answers in time");
            if !message["method"].is_null() && !message["id"].is_null() {
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
                continue;
            }
            return message;
        }
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .and_then(|()| self.input.flush())
            .expect("rust-analyzer reads");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some(text) = line.strip_prefix("Content-Length: ") {
            length = text.parse().ok()?;
        }
    }
    let mut body = Vec::new();
    output.take(length).read_to_end(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The folder for the build output of the package. It is not that of the workspace, which the cargo of this test may lock.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor-target")
}

/// A package with this program that depends on petalflow, with the versions of this workspace.
fn package(text: &str) -> PathBuf {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = format!(
        "[package]\nname = \"essay\"\nedition = \"2024\"\n\n[dependencies]\npetalflow.path = \"{}\"\n\n[workspace]\n",
        root.join("petalflow").display()
    );
    fs::create_dir_all(package.join("src")).expect("the folder for the package can be made");
    for (file, text) in [("Cargo.toml", &*manifest), ("src/main.rs", text)] {
        fs::write(package.join(file), text).expect("the package can be written");
    }
    fs::copy(root.join("Cargo.lock"), package.join("Cargo.lock")).expect("Cargo.lock is there");
    package
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}
