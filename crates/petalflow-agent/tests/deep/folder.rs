//! Files in a folder: what leaves it, and what is repeated.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kit::{results, scripted_agent};
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::ToolCall;
use petalflow::{BoxError, async_trait};
use petalflow_agent::Conversation;
use petalflow_agent::deep::{FileChange, Workspace};
use petalflow_agent::extension::{Callbacks, ToolStep};
use petalflow_agent::stream::AgentEventKind;
use petalflow_llm::Reply;
use serde_json::{Value, json};
use tokio::sync::Notify;

fn append(line: &str) -> Reply {
    // Applied twice it would be in the file twice.
    Reply::call(
        "edit_file",
        json!({ "path": "log.md", "old": "begin\n", "new": format!("begin\n{line}\n") }),
    )
}

#[cfg(unix)]
#[tokio::test]
async fn f44_no_link_leaves_the_folder() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let dir = tempfile::tempdir().unwrap();
    let (inside, outside) = (dir.path().join("inside"), dir.path().join("outside"));
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.md"), "secret").unwrap();
    fs::write(inside.join("run.sh"), "echo 1").unwrap();
    fs::set_permissions(inside.join("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::write(inside.join("data.bin"), [0xff, 0xfe]).unwrap();
    symlink(outside.join("secret.md"), inside.join("file.md")).unwrap();
    symlink(&outside, inside.join("folder")).unwrap();
    symlink("run.sh", inside.join("link.sh")).unwrap();
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let write = |path: &str| Reply::call("write_file", json!({ "path": path, "text": "echo 2" }));
    let replies = [
        read("file.md"),
        read("folder/secret.md"),
        write("file.md"),
        write("folder/secret.md"),
        write("folder/new.md"),
        read("link.sh"),
        write("run.sh"),
        read("data.bin"),
        Reply::call("ls", json!({})),
        Reply::call("grep", json!({ "expression": "." })),
        "done".into(),
    ];
    let (agent, _) = scripted_agent(replies);
    let agent = agent.workspace(Workspace::folder(&inside).unwrap());
    let talk = agent.run("Leave the folder.").await.unwrap();
    let results = results(&talk);
    for refused in &results[..5] {
        assert!(refused["error"].is_string(), "{refused}");
    }
    assert_eq!(
        fs::read_to_string(outside.join("secret.md")).unwrap(),
        "secret"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(
        results[5]["text"], "echo 1",
        "a link inside of the folder is followed"
    );
    assert_eq!(results[6], json!({ "written": "run.sh" }));
    let mode = fs::metadata(inside.join("run.sh"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750, "the permissions stay");
    assert_eq!(results[7], json!({ "error": "`data.bin` is no text" }));
    assert_eq!(results[8], json!({ "files": ["data.bin", "run.sh"] }));
    assert_eq!(results[9], json!({ "lines": ["run.sh:1: echo 2"] }));
}

/// Waits after the first call of a tool, so that its result is not stored.
struct Stop {
    is_first: AtomicBool,
    reached: Arc<Notify>,
}

#[async_trait]
impl Callbacks for Stop {
    async fn after_tool(
        &self,
        _: &mut ToolStep<'_>,
        outcome: &Result<Value, BoxError>,
    ) -> Result<Option<Value>, BoxError> {
        if self.is_first.swap(false, Ordering::SeqCst) {
            assert!(outcome.is_ok(), "{outcome:?}");
            self.reached.notify_one();
            std::future::pending::<()>().await;
        }
        Ok(None)
    }
}

/// Stops a run after the file was changed and before the result is stored, does something, and resumes the run.
async fn stop_and_resume(dir: &std::path::Path, between: impl FnOnce()) -> Conversation {
    fs::write(dir.join("log.md"), "begin\n").unwrap();
    let reached = Arc::new(Notify::new());
    let stop = Stop {
        is_first: AtomicBool::new(true),
        reached: Arc::clone(&reached),
    };
    let (agent, _) = scripted_agent([append("first"), "done".into()]);
    let agent = agent
        .workspace(Workspace::folder(dir).unwrap())
        .callbacks(stop);
    let thread = agent.store(&InMemoryStore::new()).thread("ann");
    tokio::select! {
        ended = thread.run("Write the log.") => panic!("it ended: {ended:?}"),
        () = reached.notified() => {}
    }
    between();
    thread.resume(()).await.unwrap().into_finished().unwrap()
}

#[tokio::test]
async fn f44_a_repeated_edit_is_not_applied_twice() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.md");
    let talk = stop_and_resume(dir.path(), || {
        assert_eq!(fs::read_to_string(&log).unwrap(), "begin\nfirst\n");
    })
    .await;
    assert_eq!(results(&talk), [json!({ "edited": "log.md" })]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "begin\nfirst\n");
}

#[tokio::test]
async fn f44_an_edit_that_was_not_made_is_made_when_it_is_repeated() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.md");
    // As after a crash between the record and the change.
    let talk = stop_and_resume(dir.path(), || fs::write(&log, "begin\n").unwrap()).await;
    assert_eq!(results(&talk), [json!({ "edited": "log.md" })]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "begin\nfirst\n");
}

#[tokio::test]
async fn f44_a_repeated_edit_does_not_overwrite_what_others_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.md");
    let of_others = "begin\nfirst\nof a person\n";
    let talk = stop_and_resume(dir.path(), || fs::write(&log, of_others).unwrap()).await;
    let problem = "`log.md` was changed by something else in the meantime, so it is unknown whether this change was made: read \
                   it again";
    assert_eq!(results(&talk), [json!({ "error": problem })]);
    assert_eq!(fs::read_to_string(&log).unwrap(), of_others);
}

#[tokio::test]
async fn f44_a_change_is_known_before_it_is_made_and_told_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log.md"), "begin\n").unwrap();
    let workspace = Workspace::folder(dir.path()).unwrap();
    assert_eq!(workspace.folder_path(), Some(dir.path()));
    let call = |name: &str, arguments| ToolCall {
        id: "c1".into(),
        name: name.into(),
        arguments,
        ..ToolCall::default()
    };
    let edit = call(
        "edit_file",
        json!({ "path": "/log.md", "old": "begin", "new": "end" }),
    );
    let preview = workspace.preview(&edit).await.unwrap();
    assert_eq!((&*preview.call, &*preview.path), ("c1", "log.md"));
    assert_eq!(preview.before.as_deref(), Some("begin\n"));
    assert_eq!(preview.after, "end\n");
    assert_eq!(
        fs::read_to_string(dir.path().join("log.md")).unwrap(),
        "begin\n"
    );
    let part = FileChange::of_call(&edit).unwrap();
    assert_eq!(
        (part.before.as_deref(), &*part.after),
        (Some("begin"), "end")
    );
    for nothing in [
        call(
            "edit_file",
            json!({ "path": "log.md", "old": "missing", "new": "x" }),
        ),
        call("write_file", json!({ "path": "../log.md", "text": "x" })),
        call("write_file", json!({ "path": "log.md" })),
        call("read_file", json!({ "path": "log.md" })),
    ] {
        assert_eq!(workspace.preview(&nothing).await, None);
    }
    assert_eq!(Workspace::in_thread().preview(&edit).await, None);

    let (agent, _) = scripted_agent([append("first"), append("first"), "done".into()]);
    let mut events = agent.workspace(workspace).events("Write the log.");
    let mut changes = Vec::new();
    while let Some(item) = events.next().await {
        if let AgentEventKind::Custom(custom) = item.kind {
            assert_eq!(custom.name(), Some("agent_file"));
            assert!(custom.is_transient(), "no log has whole files");
            changes.extend(custom.downcast_ref::<FileChange>().cloned());
        }
    }
    let texts = |change: &FileChange| (change.before.clone().unwrap(), change.after.clone());
    let expected = [
        ("begin\n".to_string(), "begin\nfirst\n".to_string()),
        ("begin\nfirst\n".into(), "begin\nfirst\nfirst\n".into()),
    ];
    assert_eq!(changes.iter().map(texts).collect::<Vec<_>>(), expected);
    assert_ne!(changes[0].call, changes[1].call);
}
