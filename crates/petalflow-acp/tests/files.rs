//! Changes of files, as diffs.

use std::fs;

use petalflow::checkpoint::InMemoryStore;
use petalflow_acp::{AcpServer, SessionAgent};
use petalflow_agent::Agent;
use petalflow_agent::deep::{ApprovalPolicy, Calls, DeepAgent, Workspace};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::editor::{Answer, Editor, of};

/// A server whose agents work in the folder of their session.
fn server(replies: Vec<Reply>, policy: ApprovalPolicy) -> AcpServer {
    let model = ScriptedModel::new(replies);
    AcpServer::new(&InMemoryStore::new(), move |session| {
        let files = Workspace::folder(session.folder())?;
        let agent = DeepAgent::new(model.clone())
            .workspace(files.clone())
            .build();
        Ok(SessionAgent::from(agent.approvals(policy.clone())).files(files))
    })
}

fn write(path: &str, text: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "text": text }))
}

#[tokio::test]
async fn f44_a_change_is_shown_before_the_decision_and_after_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("rose.md");
    fs::write(&file, "A rose has four petals.\n").unwrap();
    let edit = Reply::call(
        "edit_file",
        json!({ "path": "rose.md", "old": "four", "new": "five" }),
    );
    let policy = ApprovalPolicy::new().ask(Calls::to("edit_file")).unwrap();
    let server = server(vec![edit, "Corrected.".into()], policy);
    let editor = Editor::answering([Answer::Allow]);
    editor
        .with(server, async |editor| {
            let session = editor.session(dir.path()).await;
            editor.prompt(&session, "Correct it.").await.unwrap();
        })
        .await;
    let diff = json!({
        "type": "diff",
        "path": file,
        "oldText": "A rose has four petals.\n",
        "newText": "A rose has five petals.\n",
    });
    let asked = editor.asked();
    let asked = &asked[0]["toolCall"];
    let hint = "the call of `edit_file` for `rose.md` needs your approval";
    assert_eq!(
        asked["content"],
        json!([{ "type": "content", "content": { "type": "text", "text": hint } }, diff])
    );
    assert_eq!(asked["title"], "edit_file `rose.md`");
    assert_eq!(asked["kind"], "edit");
    assert_eq!(asked["locations"], json!([{ "path": file }]));
    let updates = editor.updates();
    let shown = of(&updates, "tool_call_update");
    let shown: Vec<&Value> = shown
        .into_iter()
        .filter(|it| !it["content"].is_null())
        .collect();
    assert_eq!(shown.len(), 1, "{updates:#?}");
    assert_eq!(shown[0]["content"], json!([diff]));
    assert_eq!(shown[0]["toolCallId"], asked["toolCallId"]);
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        "A rose has five petals.\n"
    );
}

#[tokio::test]
async fn f44_a_worker_shows_its_changes_and_does_not_speak() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old.md"), "old").unwrap();
    let replies = vec![
        Reply::call("worker", json!({ "request": "Write two files." })),
        write("new.md", "new"),
        write("old.md", "newer"),
        "The worker is ready.".into(),
        "Both are written.".into(),
    ];
    let editor = Editor::default();
    editor
        .with(server(replies, ApprovalPolicy::new()), async |editor| {
            let session = editor.session(dir.path()).await;
            editor.prompt(&session, "Write.").await.unwrap();
        })
        .await;
    let updates = editor.updates();
    let diff = |name: &str, old: Value, new: &str| {
        let mut diff = json!({ "type": "diff", "path": dir.path().join(name), "newText": new });
        if !old.is_null() {
            diff["oldText"] = old;
        }
        diff
    };
    let diffs: Vec<&Value> = updates
        .iter()
        .map(|it| &it["content"][0])
        .filter(|it| it["type"] == "diff")
        .collect();
    assert_eq!(
        diffs,
        [
            &diff("new.md", Value::Null, "new"),
            &diff("old.md", "old".into(), "newer")
        ]
    );
    assert_eq!(crate::editor::text(&updates), "Both are written.");
    let calls = of(&updates, "tool_call");
    let names: Vec<&Value> = calls.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["worker", "write_file", "write_file"]);
}

#[tokio::test]
async fn f44_files_in_the_thread_are_no_diffs() {
    let model = ScriptedModel::new([write("a.md", "text"), "Written.".into()]);
    let files = Workspace::in_thread();
    let agent = SessionAgent::from(Agent::new(model).workspace(files.clone())).files(files);
    let server = AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone()));
    let dir = tempfile::tempdir().unwrap();
    let editor = Editor::default();
    editor
        .with(server, async |editor| {
            let session = editor.session(dir.path()).await;
            editor.prompt(&session, "Write.").await.unwrap();
        })
        .await;
    let updates = editor.updates();
    assert!(
        !updates.iter().any(|it| it.to_string().contains("diff")),
        "{updates:?}"
    );
    let call = of(&updates, "tool_call")[0];
    assert_eq!(call["rawInput"], json!({ "path": "a.md", "text": "text" }));
    assert!(call.get("locations").is_none(), "there is no such file");
}
