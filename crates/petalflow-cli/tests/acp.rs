//! `acp`: an editor that starts the program, and kills it.

#![cfg(all(unix, feature = "acp"))]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use petalflow_test_support::{Need, skip};
use serde_json::{Value, json};

use crate::program::{document, folder, petalflow, program};

const CODER: &str = "
version: '1.0'
kind: agent_workflow
id: coder
name: Coder
agents:
  coder: { role: Coder, goal: 'Write {small} programs', provider: openai, model: gpt-5.4, tools: [build] }
tasks:
  code: { description: Code., agent: coder, expected_output: A program }
execution: { strategy: sequential, task_order: [code] }
";

/// A program that waits for the file `go`.
const BUILD: &str = "#!/bin/sh
cat > /dev/null
echo begun >> begun
while [ ! -e go ]; do sleep 0.05; done
echo built
";

/// The longest time that a test waits for a line.
const LIMIT: Duration = Duration::from_mins(2);

/// An editor that has started the program.
struct Editor {
    child: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    requests: u64,
    /// The updates that have come.
    updates: Vec<Value>,
}

impl Editor {
    /// Starts the program in a folder, with these options.
    fn start(folder: &Path, options: &[&str]) -> Self {
        let mut child = program()
            .args(["acp", "coder.agent.yaml"])
            .args(options)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let input = child.stdin.take().expect("a pipe");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let (sender, output) = mpsc::channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let message = serde_json::from_str(&line);
                let message = message.unwrap_or_else(|_| panic!("{line} is no message"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut editor = Editor {
            child,
            input,
            output,
            requests: 0,
            updates: Vec::new(),
        };
        let can = editor.request(
            "initialize",
            json!({ "protocolVersion": 1, "clientCapabilities": {} }),
        );
        assert_eq!(can["agentInfo"]["name"], "coder");
        editor
    }

    fn write(&mut self, message: Value) {
        writeln!(self.input, "{message}").expect("the program reads");
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        self.write(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next message that is no update.
    fn next(&mut self) -> Value {
        loop {
            let message = self.output.recv_timeout(LIMIT).expect("a message comes");
            if message["method"] != "session/update" {
                return message;
            }
            self.updates.push(message["params"]["update"].clone());
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn session(&mut self, folder: &Path) -> Value {
        let created = self.request("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        created["sessionId"].clone()
    }

    /// The text of the agent since the last call.
    fn text(&mut self) -> String {
        let updates = std::mem::take(&mut self.updates);
        let chunks = updates
            .iter()
            .filter(|it| it["sessionUpdate"] == "agent_message_chunk");
        chunks
            .map(|it| it["content"]["text"].as_str().expect("a text"))
            .collect()
    }

    /// The editor closes the pipe, and the program ends.
    fn close(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn prompt(session: &Value, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// A folder with the document, the program and these replies of the model.
fn prepared(replies: Value) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder();
    let write =
        |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("coder.agent.yaml", CODER);
    write("build.sh", BUILD);
    write("replies.json", &replies.to_string());
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path().join("build.sh"), mode).expect("it can be run");
    folder
}

#[test]
fn f44_a_killed_program_goes_on_when_its_session_is_loaded() {
    let folder = prepared(json!([{ "calls": [{ "name": "build" }] }]));
    let dir = folder.path();
    let options = |script: &'static str| {
        [
            "--script",
            script,
            "--store",
            "acp.db",
            "--tool",
            "build=./build.sh",
            "--allow",
            "build",
        ]
    };
    let mut editor = Editor::start(dir, &options("replies.json"));
    let session = editor.session(dir);
    editor.send("session/prompt", prompt(&session, "Build it."));
    while !dir.join("begun").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    editor.child.kill().expect("it can be killed");
    editor.child.wait().expect("it ends");

    fs::write(dir.join("go"), "").expect("written");
    fs::write(dir.join("more.json"), r#"["It is built.", "Bye."]"#).expect("written");
    let mut editor = Editor::start(dir, &options("more.json"));
    let load = json!({ "sessionId": session, "cwd": dir, "mcpServers": [] });
    editor.request("session/load", load);
    let replayed = std::mem::take(&mut editor.updates);
    let kinds: Vec<&Value> = replayed.iter().map(|it| &it["sessionUpdate"]).collect();
    assert_eq!(kinds, ["user_message_chunk", "tool_call"]);
    let ended = editor.request("session/prompt", prompt(&session, "Good bye."));
    assert_eq!(ended, json!({ "stopReason": "end_turn" }));
    let results = editor
        .updates
        .iter()
        .filter(|it| it["status"] == "completed");
    let results: Vec<&Value> = results.map(|it| &it["rawOutput"]).collect();
    assert_eq!(results, ["built"]);
    assert_eq!(editor.text(), "It is built.Bye.");
    let begun = fs::read_to_string(dir.join("begun")).expect("the program was run");
    assert_eq!(
        begun, "begun\nbegun\n",
        "once before the end, and once after it"
    );
    let listed = editor.request("session/list", json!({ "cwd": dir }));
    assert_eq!(listed["sessions"][0]["sessionId"], session);
    assert_eq!(listed["sessions"][0]["title"], "Build it.");
    editor.close();
}

#[test]
fn f44_an_editor_asks_about_programs_and_files() {
    let folder = prepared(json!([
        { "calls": [{ "name": "build" }] },
        { "calls": [{ "name": "write_file", "arguments": { "path": "a.md", "text": "new" } }] },
        "Written.",
    ]));
    let dir = folder.path();
    fs::write(dir.join("go"), "").expect("written");
    fs::write(dir.join("a.md"), "old").expect("written");
    let mut editor = Editor::start(
        dir,
        &["--script", "replies.json", "--tool", "build=./build.sh"],
    );
    let session = editor.session(dir);
    editor.send("session/prompt", prompt(&session, "Build and write."));
    let answer = |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
    let asked = editor.next();
    assert_eq!(asked["method"], "session/request_permission");
    assert_eq!(asked["params"]["toolCall"]["name"], "build");
    let rejected = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer("reject") });
    editor.write(rejected);
    let asked = editor.next();
    let diff =
        json!({ "type": "diff", "path": dir.join("a.md"), "oldText": "old", "newText": "new" });
    assert_eq!(asked["params"]["toolCall"]["content"][1], diff);
    let allowed = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer("allow") });
    editor.write(allowed);
    assert_eq!(editor.next()["result"]["stopReason"], "end_turn");
    assert_eq!(editor.text(), "Written.");
    assert!(!dir.join("begun").exists(), "the program was not run");
    assert_eq!(
        fs::read_to_string(dir.join("a.md")).expect("it is there"),
        "new"
    );
    editor.close();
}

#[test]
fn f44_3_a_call_of_another_agent_has_the_limits_of_the_document() {
    let folder = prepared(json!([
        { "calls": [{ "name": "reader", "arguments": { "request": "Read all." } }] },
        { "calls": [{ "name": "ls" }] },
        "It was too much.",
    ]));
    let dir = folder.path();
    let reader = "  reader: { role: Reader, goal: Read, provider: openai, model: gpt-5.4, call_limits: { requests: 1 } }\n";
    let document = CODER.replace("tasks:", &format!("{reader}tasks:"));
    fs::write(dir.join("coder.agent.yaml"), document).expect("written");
    let mut editor = Editor::start(dir, &["--script", "replies.json", "--agent", "coder"]);
    let session = editor.session(dir);
    let ended = editor.request("session/prompt", prompt(&session, "Read."));
    assert_eq!(ended, json!({ "stopReason": "end_turn" }));
    let failed = editor.updates.iter().filter(|it| it["status"] == "failed");
    let failed: Vec<String> = failed.map(ToString::to_string).collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    let expected = "agent `reader` stopped at its limit of 1 requests to models in one call";
    assert!(failed[0].contains(expected), "{failed:?}");
    assert_eq!(editor.text(), "It was too much.");
    editor.close();

    let nothing = CODER.replace("tools: [build]", "call_limits: { cost: 0 }");
    fs::write(dir.join("coder.agent.yaml"), nothing).expect("written");
    let ran = petalflow!("validate {}", dir.join("coder.agent.yaml").display());
    assert_ne!(ran.code, 0);
    let expected = "agent `coder`: `cost` of `call_limits` must be more than 0";
    assert!(
        ran.err.contains(expected) || ran.out.contains(expected),
        "{}{}",
        ran.out,
        ran.err
    );
}

#[test]
fn f44_acp_says_which_agent_is_missing() {
    let research = document("research.agent.yaml");
    let ran = petalflow!("acp {research}").code(64);
    assert!(
        ran.err.contains("the document has several agents"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("the document has: researcher, writer"),
        "{}",
        ran.err
    );
    let ran = petalflow!("acp {research} --agent cook").code(64);
    assert!(ran.err.contains("there is no agent `cook`"), "{}", ran.err);
    let ran = petalflow!("acp {}", document("greeting.graph.json")).code(6);
    assert!(
        ran.err.contains("is a graph, and has no agents"),
        "{}",
        ran.err
    );
    petalflow!("acp {}", document("food_order.json")).code(6);
    let allow = petalflow!("acp {research} --agent writer --allow '['");
    assert!(
        allow.code == 64 && allow.err.contains("`--allow`"),
        "{}",
        allow.err
    );
}

/// The SDK of the protocol for Python. `PETALFLOW_TEST_PYTHON` is a Python with the package `agent-client-protocol`.
#[test]
fn f44_the_client_for_python_uses_an_agent() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        skip(
            Need::Installed,
            "no SDK of ACP for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `agent-client-protocol`",
        );
        return;
    };
    let write = |path: &str| json!({ "calls": [{ "name": "write_file", "arguments": { "path": path, "text": "text" } }] });
    let plan = json!({ "calls": [{ "name": "write_plan", "arguments": { "items": [{ "text": "write", "state": "active" }] } }] });
    let folder = prepared(json!([plan, write("a.md"), write("b.md"), "Done."]));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp_client.py");
    let output = std::process::Command::new(python)
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_petalflow"))
        .arg(folder.path())
        .env_remove("PETALFLOW_STORE")
        .output()
        .expect("python starts");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}\n{err}");
    assert!(folder.path().join("a.md").exists());
    assert!(!folder.path().join("b.md").exists(), "it was rejected");
    assert_eq!(
        out, "plan\na.md allowed\nb.md rejected\nDone.\nend_turn\nplan\nDone.\n",
        "{err}"
    );
}
