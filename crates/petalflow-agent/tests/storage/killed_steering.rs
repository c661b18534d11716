//! Messages to an agent while it works. Both its process and the one that sends them are killed again and again.
//!
//! The killed processes are this test binary again, controlled by environment variables.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use petalflow::checkpoint::Store;
use petalflow::thread::{OnBusy, Thread};
use petalflow::tool::FuncTool;
use petalflow_agent::{Agent, AgentFlow, Conversation, ConversationSteering};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::kill_until_all_end;
use serde_json::{Value, json};

const FILE: &str = "PETALFLOW_TEST_STEERED_AGENT";
const ROLE: &str = "PETALFLOW_TEST_STEERED_ROLE";
const CHILD: &str = "storage::killed_steering::the_child";

const MESSAGES: usize = 60;
/// How many messages a process sends again, because it does not know whether they were stored.
const REPEATED: usize = 2;

/// In each turn it calls a tool three times, and answers.
fn agent() -> Agent {
    let model = ScriptedModel::from_fn(|request: &LlmRequest| {
        check_request(request);
        let of_turn = request
            .messages
            .iter()
            .rev()
            .take_while(|it| !begins_turn(it));
        let calls = of_turn.filter(|message| message.role == Role::Tool).count();
        match calls {
            0..3 => Reply::call("look", json!({})),
            _ => Reply::text("done"),
        }
    });
    let look = FuncTool::new("look", "Looks.", |_: Value| async {
        tokio::task::yield_now().await;
        Ok("found")
    });
    Agent::new(model).tool(look)
}

fn begins_turn(message: &ChatMessage) -> bool {
    message.role == Role::User && message.text().starts_with("turn")
}

/// Providers refuse a call that is not followed by its result.
fn check_request(request: &LlmRequest) {
    for pair in request.messages.windows(2) {
        let is_call = pair[0].calls().next().is_some();
        let is_result = pair[1].role == Role::Tool;
        assert_eq!(is_call, is_result, "{:?}", request.messages);
    }
}

fn notes(talk: &Conversation) -> Vec<String> {
    let of_user = talk.events.iter().filter(|event| event.is_from_user());
    let texts = of_user.map(petalflow_agent::AgentEvent::text);
    texts.filter(|text| text.starts_with("note")).collect()
}

fn thread(store: &(impl Store + Clone)) -> Thread<AgentFlow> {
    agent().store(store).on_busy(OnBusy::Queue).thread("talk")
}

/// Begins and resumes turns until the agent has read all messages.
async fn work(thread: &Thread<AgentFlow>) {
    for turn in 1.. {
        let stored = thread.snapshot().await.expect("it can be read");
        let stored = stored.expect("it exists");
        let run = if !stored.is_finished() {
            thread.resume(())
        } else if notes(&stored.state).len() < MESSAGES {
            thread.run(format!("turn {turn}"))
        } else {
            return;
        };
        run.await
            .expect("a turn does not fail")
            .into_finished()
            .expect("nothing waits");
    }
}

/// Sends all messages. What was acknowledged is in a file, a byte for each.
async fn send(thread: &Thread<AgentFlow>, acknowledged: &Path) {
    let sent = std::fs::read(acknowledged).unwrap_or_default();
    for number in sent.len().saturating_sub(REPEATED)..MESSAGES {
        let message = ChatMessage::user(format!("note {number}"));
        let sending = thread.send_once(number.to_string(), ConversationSteering(vec![message]));
        sending.await.expect("it is stored");
        if number >= sent.len() {
            let known = vec![b'.'; number + 1];
            std::fs::write(acknowledged, known).expect("it can be written");
        }
    }
}

#[test]
fn f43_an_agent_reads_each_message_once_and_in_order_although_processes_are_killed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("talk.db");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    let open = || SqliteStore::open(&file);
    runtime.block_on(async {
        let begun = thread(&open().await.expect("it opens")).run("turn 0").await;
        begun.expect("it runs").into_finished().expect("it ends");
    });
    let kills = kill_until_all_end(2, |role| start(&file, role));
    runtime.block_on(async {
        let thread = thread(&open().await.expect("it opens"));
        let talk = thread.snapshot().await.unwrap().unwrap().state;
        let expected: Vec<_> = (0..MESSAGES)
            .map(|number| format!("note {number}"))
            .collect();
        assert_eq!(notes(&talk), expected, "after {kills} kills");
        assert!(talk.steering.is_empty());
        let ids: std::collections::BTreeSet<_> = talk.events.iter().map(|it| &it.id).collect();
        assert_eq!(ids.len(), talk.events.len(), "each event has an id");
        let later = thread.run("turn").await.unwrap().into_finished().unwrap();
        assert_eq!(notes(&later), expected);
    });
    println!("{kills} kills");
}

/// Starts this binary again as one of the processes that are killed.
fn start(file: &Path, role: usize) -> Child {
    Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", CHILD, "--nocapture"])
        .env(FILE, file)
        .env(ROLE, role.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Not a test of its own: the processes that are killed.
#[test]
fn the_child() {
    let (Some(file), Ok(role)) = (std::env::var_os(FILE), std::env::var(ROLE)) else {
        return;
    };
    let file = PathBuf::from(file);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let thread = thread(&SqliteStore::open(&file).await.expect("it opens"));
        match &*role {
            "0" => work(&thread).await,
            _ => send(&thread, &file.with_extension("sent")).await,
        }
    });
}
