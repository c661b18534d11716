//! A process that is killed again and again while an agent talks, its conversation is summarized, and what was summarized is
//! removed.
//!
//! The killed process is this test binary again, controlled by environment variables.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::thread::OnBusy;
use petalflow::tool::FuncTool;
use petalflow_agent::compaction::{LastMessages, StoredEvents, Summary};
use petalflow_agent::{Agent, Conversation};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::ends_before_kill;
use serde_json::{Value, json};

const FILE: &str = "PETALFLOW_TEST_KILLED_AGENT";
const TURNS: usize = 100;
const CHILD: &str = "storage::killed::the_child";

/// Each turn calls a tool and answers; every few messages are summarized.
fn agent() -> (Agent, Arc<ScriptedModel>) {
    let summaries = ScriptedModel::from_fn(|request: &LlmRequest| {
        let length: usize = request
            .messages
            .iter()
            .map(|message| message.text().len())
            .sum();
        format!("summary of {length} characters")
    });
    let model = Arc::new(ScriptedModel::from_fn(|request: &LlmRequest| {
        let last = request.messages.last().expect("a request has messages");
        match last.role {
            Role::Tool => Reply::text(format!("answer after {} messages", request.messages.len())),
            _ => Reply::call("look", json!({})),
        }
    }));
    let look = FuncTool::new("look", "Looks.", |_: Value| async { Ok("found") });
    let agent = Agent::new(Arc::clone(&model)).tool(look);
    let agent = agent.compaction(Summary::new(summaries, LastMessages::new(8)));
    (agent.remove_cut_events(), model)
}

/// Begins or resumes turns until all have ended.
async fn work(store: &(impl Store + Clone)) -> Conversation {
    let threads = agent().0.store(store).on_busy(OnBusy::Queue);
    let thread = threads.thread("talk");
    loop {
        let known = thread.snapshot().await.expect("what is stored can be read");
        let run = match known {
            Some(known) if !known.is_finished() => thread.resume(()),
            Some(known) if finished_turns(&known.state) == TURNS => return known.state,
            Some(known) => thread.run(format!("question {}", finished_turns(&known.state))),
            None => thread.run("question 0"),
        };
        run.await
            .expect("a turn does not fail")
            .into_finished()
            .expect("nothing waits");
    }
}

/// How many turns have ended: each has a message, a call, a result and an answer.
fn finished_turns(talk: &Conversation) -> usize {
    let removed = usize::try_from(talk.removed_events()).expect("they are few");
    (removed + talk.events.len()) / 4
}

/// The words of the conversation, and what the model reads in one more turn.
async fn run_last_turn(store: &(impl Store + Clone)) -> (Vec<String>, Vec<String>) {
    let (agent, model) = agent();
    let thread = agent.store(store).on_busy(OnBusy::Queue).thread("talk");
    let talk = thread
        .run("one more")
        .await
        .expect("it runs")
        .into_finished()
        .expect("it ends");
    assert!(talk.removed_events() > 0);
    let all = StoredEvents::of(&thread).await.expect("it can be read");
    assert_eq!(all.missing, 0);
    let events = all
        .events
        .iter()
        .map(|event| format!("{} {}", event.author, event.text()));
    let request = model.last_request().expect("the model was asked");
    let read = request.messages.iter().map(ChatMessage::text);
    (events.collect(), read.collect())
}

#[test]
fn a_process_killed_during_compactions_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("talk.db");
    let mut kills = 0;
    while !ends_before_kill(start(&file), kills) {
        kills += 1;
        assert!(kills < 2_000, "the child never ends");
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(&file).await.expect("it opens");
        let whole = InMemoryStore::new();
        work(&whole).await;
        assert_eq!(
            run_last_turn(&store).await,
            run_last_turn(&whole).await,
            "after {kills} kills"
        );
    });
    println!("{kills} kills");
}

/// Starts this binary again as the process that is killed.
fn start(file: &Path) -> Child {
    Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", CHILD, "--nocapture"])
        .env(FILE, file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Not a test of its own: the process that is killed.
#[test]
fn the_child() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(PathBuf::from(file))
            .await
            .expect("it opens");
        work(&store).await;
    });
}
