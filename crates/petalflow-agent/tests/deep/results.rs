//! Long results of tools in files.

use crate::kit::{constant_tool, results, scripted_agent};
use petalflow_agent::Agent;
use petalflow_agent::deep::{LongResults, Workspace};
use petalflow_llm::Reply;
use serde_json::{Value, json};

fn with_files(agent: Agent, files: Workspace) -> Agent {
    let long = LongResults::new(files.clone()).characters(100);
    agent.workspace(files).callbacks(long)
}

#[tokio::test]
async fn f44_a_long_result_becomes_a_file() {
    let lines: Vec<String> = (1..=60).map(|line| format!("line {line} ü\n")).collect();
    let text = lines.concat();
    let object = json!({ "rows": vec![1; 200] });
    let script = [
        Reply::call("text", json!({})).and_call("object", json!({})),
        Reply::call("short", json!({})),
        "done".into(),
    ];
    let (agent, _) = scripted_agent(script);
    let agent = agent
        .tool(constant_tool("text", json!(text)))
        .tool(constant_tool("object", object.clone()))
        .tool(constant_tool("short", json!("x".repeat(100))));
    let talk = with_files(agent, Workspace::in_thread())
        .run("?")
        .await
        .unwrap();
    let read = results(&talk);
    let files = Workspace::files_in(&talk);
    assert_eq!(files.len(), 2);
    let file = read[0]["file"].as_str().unwrap();
    assert!(file.starts_with("results/text-"), "{file}");
    assert_eq!(files[file], text);
    let first: Vec<String> = (1..=20).map(|line| format!("line {line} ü")).collect();
    let expected = json!({
        "note": "the result is long: read the lines that you need from the file",
        "file": file,
        "characters": text.chars().count(),
        "lines": 60,
        "start": first.join("\n"),
    });
    assert_eq!(read[0], expected);
    let stored: Value = serde_json::from_str(files[read[1]["file"].as_str().unwrap()]).unwrap();
    assert_eq!(stored, object);
    assert_eq!(read[2], json!("x".repeat(100)));
}

#[tokio::test]
async fn f44_a_long_result_goes_into_the_folder_and_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let (agent, _) = scripted_agent([
        Reply::call("text", json!({})),
        Reply::call("grep", json!({ "expression": "x{200}" })),
        "done".into(),
    ]);
    let long = "x".repeat(2 * 1024 * 1024);
    let agent = agent.tool(constant_tool("text", json!(long)));
    let files = Workspace::folder(dir.path()).unwrap();
    let talk = with_files(agent, files).run("?").await.unwrap();
    let read = results(&talk);
    let file = read[0]["file"].as_str().unwrap();
    assert_eq!(read[0]["cut"], "the file has the first 1048576 bytes only");
    assert_eq!(
        std::fs::metadata(dir.path().join(file)).unwrap().len(),
        1024 * 1024
    );
    let found: Vec<Value> = (1..=100)
        .map(|line| json!(format!("{file}:{line}: {}...", "x".repeat(300))))
        .collect();
    // It is longer than 100 characters, and stays as it is. A line that is too long was broken.
    assert_eq!(
        read[1],
        json!({ "lines": found, "note": "there are more lines: look for fewer" })
    );
}

#[tokio::test]
async fn f44_a_picture_stays_and_the_text_of_an_agent_is_a_text() {
    let (agent, _) = scripted_agent([
        Reply::call("draw", json!({})).and_call("ask", json!({})),
        "done".into(),
    ]);
    let picture = json!({ "output": [{ "type": "image", "media_type": "image/png", "data": "A".repeat(500) }] });
    let answer = "a line\n".repeat(50);
    let agent = agent
        .tool(constant_tool("draw", picture.clone()))
        .tool(constant_tool("ask", json!({ "result": answer })));
    let talk = with_files(agent, Workspace::in_thread())
        .run("?")
        .await
        .unwrap();
    let read = results(&talk);
    assert_eq!(read[0], picture);
    let file = read[1]["file"].as_str().unwrap();
    assert_eq!(Workspace::files_in(&talk)[file], answer);
}
