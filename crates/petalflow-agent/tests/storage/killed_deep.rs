//! A process that is killed again and again while an agent for long work plans, edits files and gives parts away.
//!
//! The killed process is this test binary again, controlled by environment variables.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::thread::OnBusy;
use petalflow::tool::FuncTool;
use petalflow_agent::Conversation;
use petalflow_agent::deep::{DeepAgent, Plan, Workspace};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::ends_before_kill;
use serde_json::{Value, json};

const FOLDER: &str = "PETALFLOW_TEST_KILLED_DEEP_AGENT";
const EDITS: &str = "PETALFLOW_TEST_KILLED_DEEP_AGENT_EDITS";
const CHILD: &str = "storage::killed_deep::the_child";

fn plan(state: &str) -> Reply {
    Reply::call(
        "write_plan",
        json!({ "items": [{ "text": "edit", "state": state }] }),
    )
}

/// Adds a line at the start of a file. Applied twice, the line would be there twice.
fn insert(path: &str, line: usize) -> Reply {
    let new = format!("begin\nline {line}\n");
    Reply::call(
        "edit_file",
        json!({ "path": path, "old": "begin\n", "new": new }),
    )
}

fn create(path: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "text": "begin\n" }))
}

/// What the model answers depends on its own conversation only.
fn reply(request: &LlmRequest, edits: usize) -> Reply {
    let messages = request.messages.iter();
    let answers = messages.filter(|message| message.role == Role::Assistant);
    let step = answers.count();
    let first = request.messages[0].text();
    if let Some(part) = ["part a", "part b"]
        .into_iter()
        .find(|part| first.contains(part))
    {
        let path = format!("{part}.md");
        return match step {
            0 => create(&path),
            1..=5 => insert(&path, step),
            6 => Reply::call("report", json!({})),
            _ => Reply::text("written"),
        };
    }
    let worker = |part: &str| json!({ "request": part });
    match step {
        0 => plan("active"),
        1 => create("log.md"),
        step if step < 2 + edits => insert("log.md", step),
        step if step == 2 + edits => {
            Reply::call("worker", worker("part a")).and_call("worker", worker("part b"))
        }
        step if step == 3 + edits => plan("done"),
        _ => Reply::text("finished"),
    }
}

/// The files, the plan and the answer of a piece of work.
type Outcome = (BTreeMap<String, String>, String, String);

/// Begins or resumes the work until it has ended.
async fn work(
    store: &(impl Store + Clone),
    name: &str,
    workspace: Workspace,
    edits: usize,
) -> Conversation {
    let model = ScriptedModel::from_fn(move |request: &LlmRequest| reply(request, edits));
    let report = FuncTool::new("report", "Reports.", |_: Value| async {
        Ok("rain ".repeat(200))
    });
    let agent = DeepAgent::new(model)
        .workspace(workspace)
        .tools(petalflow::tool::ToolSet::new().with(report))
        .long_results(500)
        .build();
    let thread = agent.store(store).on_busy(OnBusy::Queue).thread(name);
    let known = thread.snapshot().await.expect("what is stored can be read");
    let run = match known {
        Some(known) if known.is_finished() => return known.state,
        Some(_) => thread.resume(()),
        None => thread.run("Write the log."),
    };
    run.await
        .expect("the turn does not fail")
        .into_finished()
        .expect("nothing waits")
}

/// The files of a folder whose names do not depend on the run.
fn files_of(folder: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        let name = path.file_name().expect("it has a name").to_string_lossy();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else if !name.starts_with('.') {
            files.insert(
                name.into_owned(),
                std::fs::read_to_string(&path).expect("a text"),
            );
        }
    }
    files
}

/// Works twice: with files in the folder, and with files in the thread.
async fn work_on_both(store: &(impl Store + Clone), folder: &Path, edits: usize) -> [Outcome; 2] {
    let in_folder = Workspace::folder(folder).expect("it can be opened");
    let first = work(store, "folder", in_folder, edits).await;
    let second = work(store, "thread", Workspace::in_thread(), edits).await;
    let files = Workspace::files_in(&second).into_iter();
    let files = files.map(|(path, text)| (path.to_string(), text.to_string()));
    let end = |talk: &Conversation| (Plan::of(talk).to_string(), talk.answer());
    let ((plan, answer), (other_plan, other_answer)) = (end(&first), end(&second));
    [
        (files_of(folder), plan, answer),
        (files.collect(), other_plan, other_answer),
    ]
}

/// `PETALFLOW_KILLS` says about how often the process is killed.
#[test]
fn f44_a_killed_deep_agent_has_the_files_and_the_plan_of_one_that_was_not() {
    let kills = std::env::var("PETALFLOW_KILLS").ok();
    let kills: usize = kills.and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let edits = 2 * kills;
    let folder = tempfile::tempdir().expect("a folder can be made");
    std::fs::create_dir(folder.path().join("files")).expect("it can be made");
    let mut kills = 0;
    while !ends_before_kill(start(folder.path(), edits), kills) {
        kills += 1;
        // A slow machine needs many more kills: 2,000 for 400 edits where fifteen other processes work.
        let most = 5_000 + 25 * edits as u64;
        assert!(kills < most, "the child never ends");
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(folder.path().join("talk.db"))
            .await
            .expect("it opens");
        let killed = work_on_both(&store, &folder.path().join("files"), edits).await;
        let other = tempfile::tempdir().expect("a folder can be made");
        let whole = work_on_both(&InMemoryStore::new(), other.path(), edits).await;
        assert_eq!(killed, whole, "after {kills} kills");
        for (files, plan, answer) in whole {
            assert_eq!((&*plan, &*answer), ("[x] edit", "finished"));
            assert_eq!(files["log.md"].lines().count(), 1 + edits);
            assert_eq!(files["part b.md"].lines().count(), 6);
            assert_eq!(files.len(), 5, "{:?}", files.keys());
        }
    });
    println!("{kills} kills");
}

/// Starts this binary again as the process that is killed.
fn start(folder: &Path, edits: usize) -> Child {
    Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", CHILD, "--nocapture"])
        .env(FOLDER, folder)
        .env(EDITS, edits.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Not a test of its own: the process that is killed.
#[test]
fn the_child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let edits = std::env::var(EDITS).expect("it is set");
    let edits = edits.parse().expect("a number");
    let folder = Path::new(&folder);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(folder.join("talk.db"))
            .await
            .expect("it opens");
        work_on_both(&store, &folder.join("files"), edits).await;
    });
}
