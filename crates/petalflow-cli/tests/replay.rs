//! `petalflow replay`: a document over an exported thread.

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ran, document, file, folder, path, petalflow};

/// A graph whose model calls a tool, and another node that asks a model once.
const LOOKUP: &str = r#"
version: "1.0"
kind: graph
id: lookup
nodes:
  - id: find
    type: llm_prompt
    config: { provider: anthropic, model: claude-sonnet-4-6, prompt_template: "How high is {{.name}}?", tools: [height], output_key: found }
  - id: report
    type: llm_prompt
    config: { provider: anthropic, model: claude-sonnet-4-6, prompt_template: "Say it in French: {{.found}}", output_key: report }
edges: [{ source: find, target: report }]
entry: find
"#;

const REPLIES: &str = r#"[{ "calls": [{ "name": "height", "arguments": { "name": "it" } }] }, "It is 324 m high.", "324 m de haut."]"#;

/// Runs the graph, and exports its thread. Returns the path of the file.
fn exported(folder: &TempDir, store: &str, id: &str) -> String {
    let program = format!("echo x >> {}; echo 324", path(folder, "calls"));
    file(folder, "height.sh", &program);
    let tool = tool(folder);
    let graph = file(folder, "lookup.graph.yaml", LOOKUP);
    let replies = file(folder, "replies.json", REPLIES);
    petalflow!("run {graph} -i name=it --script {replies} --tool {tool} --store {store} --thread {id} --keep-results --quiet").code(0);
    let exported = path(folder, "lookup.thread.json");
    petalflow!("threads export {id} --store {store} --no-secrets -o {exported}").code(0);
    exported
}

/// The program of the tool, as a word of a command line.
fn tool(folder: &TempDir) -> String {
    format!("'height=sh {}'", path(folder, "height.sh"))
}

/// Stores a thread in this store, and replays it with the same and with another document.
pub(crate) fn exported_and_replayed(store: &str, id: &str) {
    let folder = folder();
    let thread = exported(&folder, store, id);
    let tool = tool(&folder);
    let same = petalflow!("replay {thread} --tool {tool}").code(0);
    assert!(same.out.contains("no difference"), "{}", same.out);
    // All requests of the node with a tool, and that of the other one.
    assert!(
        same.out.contains("3 requests to models were compared"),
        "{}",
        same.out
    );

    let other = LOOKUP.replace("Say it in French", "Say it in Spanish");
    let other = file(&folder, "other.graph.yaml", &other);
    let ran = petalflow!("replay {thread} --flow {other} --tool {tool} --json").code(11);
    let report = ran.json();
    let rows = report["differences"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{report}");
    assert_eq!(
        (&rows[0]["kind"], &rows[0]["node"]),
        (&Value::from("request"), &Value::from("report"))
    );
    // Once, when the thread ran.
    let calls = std::fs::read_to_string(path(&folder, "calls")).expect("the tool has run");
    assert_eq!(calls, "x\n");
    assert_eq!(
        (&report["same"], &report["requests"]),
        (&Value::from(false), &Value::from(3))
    );
}

#[test]
fn f44_a_document_is_replayed_over_a_thread_and_nothing_is_called() {
    let store = folder();
    exported_and_replayed(&path(&store, "runs.db"), "lookup-1");
}

#[test]
fn f44_a_named_node_runs_with_its_model() {
    let folder = folder();
    let thread = exported(&folder, &path(&folder, "runs.db"), "lookup-1");
    let tool = tool(&folder);
    let script = file(&folder, "one.json", r#"["324 m, ma foi."]"#);
    let ran = petalflow!("replay {thread} --run report --tool {tool} --script {script}");
    let ran = ran.code(11);
    assert!(
        ran.out.contains("ma foi") && ran.out.contains("1 tasks run"),
        "{}",
        ran.out
    );
    let unknown = petalflow!("replay {thread} --run reprot --tool {tool} --script {script}");
    let unknown = unknown.code(64);
    assert!(
        unknown.err.contains("no node `reprot`") && unknown.err.contains("find, report"),
        "{}",
        unknown.err
    );
}

#[test]
fn f44_a_conversation_is_replayed() {
    let folder = folder();
    let store = path(&folder, "chats.db");
    let replies = file(
        &folder,
        "replies.json",
        r#"["What would you like?", "Sorry?"]"#,
    );
    let order = |text: &str| {
        let nodes = r#"{ "initial_node": "start", "nodes": { "start": {
            "task_messages": [{ "role": "developer", "content": "ASK" }], "functions": [] } } }"#;
        file(&folder, "order.json", &nodes.replace("ASK", text))
    };
    let path_of_order = order("Ask.");
    let line = format!(
        "chat {path_of_order} --script {replies} --store {store} --thread c --keep-results"
    );
    crate::program::run_with_input(
        "soup\n",
        crate::program::words(&line).iter().map(String::as_str),
    )
    .code(0);
    let thread = path(&folder, "c.thread.json");
    petalflow!("threads export c --store {store} --no-secrets -o {thread}").code(0);
    let same = petalflow!("replay {thread}").code(0);
    assert!(
        same.out.contains("no difference") && same.out.contains("2 requests"),
        "{}",
        same.out
    );
    order("Ask politely.");
    let changed: Ran = petalflow!("replay {thread}");
    assert!(changed.code == 11 || changed.code == 0, "{changed:?}");
}

#[test]
fn f44_what_cannot_be_replayed_is_an_error_that_names_it() {
    let folder = folder();
    let store = path(&folder, "runs.db");
    let greeting = document("greeting.graph.json");
    petalflow!("run {greeting} -i name=Ann --store {store} --thread g").code(0);
    let thread = path(&folder, "g.thread.json");
    petalflow!("threads export g --store {store} --no-secrets -o {thread}").code(0);
    // The results were not kept.
    let ran = petalflow!("replay {thread}").code(8);
    assert!(ran.out.contains("has not the results"), "{}", ran.out);

    let text = std::fs::read_to_string(&thread).unwrap();
    let cut = file(&folder, "cut.thread.json", &text[..text.len() / 2]);
    let ran = petalflow!("replay {cut} --flow {greeting}").code(3);
    assert!(
        ran.err.contains("cut.thread.json: ") && ran.err.contains("export the thread again"),
        "{}",
        ran.err
    );
    let ran = petalflow!("replay {cut}.missing --flow {greeting}").code(3);
    assert!(ran.err.contains("cut.thread.json.missing: "), "{}", ran.err);
    let other = document("review.graph.yaml");
    let ran = petalflow!("replay {thread} --flow {other}").code(11);
    assert!(
        ran.out.contains("flow") && ran.out.contains("greeting"),
        "{}",
        ran.out
    );
}

/// The file is of the form in which the record of a request was the list of its parts.
#[test]
fn f44_an_older_file_is_still_compared() {
    let thread = document("older.thread.json");
    let graph = document("older.graph.yaml");
    let same = petalflow!("replay {thread} --flow {graph}").code(0);
    assert!(same.out.contains("no difference"), "{}", same.out);
    assert!(
        same.out.contains("1 requests to models were compared"),
        "{}",
        same.out
    );
    let folder = folder();
    let text = std::fs::read_to_string(&graph).expect("the document");
    let changed = file(
        &folder,
        "older.graph.yaml",
        &text.replace("You are brief.", "You are exact."),
    );
    let ran = petalflow!("replay {thread} --flow {changed}").code(11);
    assert!(
        ran.out.contains("You are brief.") && ran.out.contains("You are exact."),
        "{}",
        ran.out
    );
}
