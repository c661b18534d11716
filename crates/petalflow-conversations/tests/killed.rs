//! A process that is killed at each point of a turn, and at random.
//!
//! The killed process is this test binary again, controlled by environment variables.

use std::collections::BTreeMap;
use std::future::pending;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::middleware::from_fn;
use petalflow::thread::{OnBusy, Thread};
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_conversations::{ActionCall, ConversationState, TurnFlow};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use petalflow_test_support::ends_before_kill;
use serde_json::{Value, json};

use crate::{builder, node};

const FOLDER: &str = "PETALFLOW_TEST_KILLED_TALK";
const POINT: &str = "PETALFLOW_TEST_KILLED_AT";
const WAITS: &str = "PETALFLOW_TEST_KILLED_WAITS";
const CHILD: &str = "killed::the_child";
const TURNS: usize = 30;

/// Where the effects of a process are recorded, and where it stops and waits to be killed.
#[derive(Clone)]
struct Place {
    folder: PathBuf,
    point: Option<String>,
    /// Whether the model responds at the second node only when the person says something. The actions after its turn
    /// wait for that.
    waits: bool,
}

impl Place {
    /// Waits for ever if this is the point.
    async fn pass(&self, point: &str) {
        if self.point.as_deref() == Some(point) {
            // Until what has been done beside it is stored.
            tokio::time::sleep(Duration::from_millis(100)).await;
            std::fs::write(self.folder.join("reached"), "").expect("it can be written");
            pending::<()>().await;
        }
    }

    /// Passes the point, and records that it was passed.
    async fn does(&self, what: &str) {
        self.pass(what).await;
        let mut log = std::fs::OpenOptions::new();
        let log = log
            .append(true)
            .create(true)
            .open(self.folder.join("effects"));
        // One write, so that a kill leaves no line without its end.
        let line = format!("{what}\n");
        log.expect("it opens")
            .write_all(line.as_bytes())
            .expect("it can be written");
    }

    /// How often each effect has happened.
    fn effects(&self) -> BTreeMap<String, usize> {
        let log = std::fs::read_to_string(self.folder.join("effects")).unwrap_or_default();
        let mut effects = BTreeMap::new();
        for effect in log.lines() {
            *effects.entry(effect.to_owned()).or_default() += 1;
        }
        effects
    }

    fn file(&self) -> PathBuf {
        self.folder.join("talk.db")
    }
}

/// A conversation with two functions in one answer, a transition, and actions on both sides of it.
fn conversation(store: &(impl Store + Clone), place: &Place) -> Thread<TurnFlow> {
    let function = |name: &'static str| {
        let place = place.clone();
        FuncTool::with_context(name, "Does something.", move |_: Value, cx: ToolContext| {
            let place = place.clone();
            async move {
                place.does(name).await;
                cx.set_state(name, true);
                Ok("done")
            }
        })
    };
    let action = |name: &'static str| {
        let place = place.clone();
        move |_: ActionCall| {
            let place = place.clone();
            async move {
                place.does(name).await;
                Ok(())
            }
        }
    };
    let waits = place.waits;
    let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
        let last = request.messages.last().expect("a request has messages");
        match last.role {
            Role::User if !waits || last.text() == "say 0" => {
                Reply::call("book", json!({})).and_call("note", json!({}))
            }
            _ => Reply::text(format!("answer after {} messages", request.messages.len())),
        }
    });
    let flow = builder(json!({
        "a": node("A.", json!({
            "functions": [{ "name": "book", "transition_to": "b" }, { "name": "note" }],
        })),
        "b": node("B. {{ book }}", json!({
            "functions": [{ "name": "book", "transition_to": "b" }, { "name": "note" }],
            "respond_immediately": !waits,
            "pre_actions": [{ "type": "first" }, { "type": "second" }],
            "post_actions": [{ "type": "third" }, { "type": "tts_say", "text": "Bye." }, { "type": "fourth" }],
        })),
    }));
    let flow = flow
        .model(model)
        .tool(function("book"))
        .tool(function("note"));
    let flow = ["first", "second", "third", "fourth"]
        .into_iter()
        .fold(flow, |flow, name| flow.action(name, action(name)));
    let launch = flow.build().expect("all handlers are there").launch();
    // The points between the effects: before a step begins.
    let place = place.clone();
    let launch = launch.middleware(from_fn::<ConversationState, _>(move |call, next| {
        let place = place.clone();
        Box::pin(async move {
            place.pass(&format!("before {}", call.node())).await;
            next.run(call).await
        })
    }));
    launch.store(store).on_busy(OnBusy::Queue).thread("talk")
}

/// Begins or resumes turns until there were this many, and returns what the conversation is then.
async fn work(thread: &Thread<TurnFlow>, turns: usize) -> ConversationState {
    loop {
        let known = thread.snapshot().await.expect("what is stored can be read");
        let run = match known {
            Some(known) if !known.is_finished() => thread.resume(()),
            Some(known) if turns_begun(&known.state) == turns => return known.state,
            Some(known) => thread.run(format!("say {}", turns_begun(&known.state))),
            None => thread.run("say 0"),
        };
        let state = run.await.expect("a turn does not fail");
        state.into_finished().expect("nothing waits");
    }
}

/// How many turns have begun: each has a message of the person.
fn turns_begun(state: &ConversationState) -> usize {
    let messages = state.messages.iter();
    messages
        .filter(|message| message.role == Role::User)
        .count()
}

/// What a conversation is, as text.
fn state_value(state: &ConversationState) -> Value {
    let messages: Vec<Value> = state
        .messages
        .iter()
        .map(|message| {
            let results: Vec<_> = message
                .tool_results()
                .map(|it| it.content.clone())
                .collect();
            let calls: Vec<_> = message.calls().map(|it| it.name.clone()).collect();
            json!([message.role.to_string(), message.text(), calls, results])
        })
        .collect();
    json!({ "messages": messages, "values": state.values, "position": state.position })
}

/// What an undisturbed process leaves.
async fn run_undisturbed(turns: usize, waits: bool) -> (Value, BTreeMap<String, usize>) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = Place {
        folder: folder.path().into(),
        point: None,
        waits,
    };
    let state = work(&conversation(&InMemoryStore::new(), &place), turns).await;
    (state_value(&state), place.effects())
}

fn start(place: &Place) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("it is known"));
    command
        .args(["--exact", CHILD, "--nocapture"])
        .env(FOLDER, &place.folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    if let Some(point) = &place.point {
        command.env(POINT, point);
    }
    if place.waits {
        command.env(WAITS, "");
    }
    command.spawn().expect("it starts")
}

/// Kills a process at each of the points, continues in this one, and compares with an undisturbed process.
fn kill_at(points: &[&str], turns: usize, waits: bool) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    let (expected, effects) = runtime.block_on(run_undisturbed(turns, waits));
    assert_eq!(effects.values().copied().collect::<Vec<_>>(), [1; 6]);
    for point in points {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let place = Place {
            folder: folder.path().into(),
            point: Some((*point).into()),
            waits,
        };
        let mut child = start(&place);
        while !place.folder.join("reached").exists() {
            let ended = child.try_wait().expect("it is a child");
            assert!(ended.is_none(), "{point} was not reached");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let rest = Place {
            point: None,
            ..place
        };
        let state = runtime.block_on(async {
            let store = SqliteStore::open(&rest.file()).await.expect("it opens");
            work(&conversation(&store, &rest), turns).await
        });
        assert_eq!(state_value(&state), expected, "killed at {point}");
        assert_eq!(rest.effects(), effects, "killed at {point}");
    }
}

#[test]
fn a_conversation_continues_after_a_kill_at_each_point_of_a_turn() {
    let in_the_middle = ["before ask", "book", "note"];
    let before_the_transition = ["before gather"];
    let before_the_node = ["before action", "first", "second", "before enter"];
    let after_the_turn = ["third", "fourth"];
    let points = [
        &in_the_middle[..],
        &before_the_transition,
        &before_the_node,
        &after_the_turn,
    ];
    kill_at(&points.concat(), 1, false);
}

#[test]
fn f060_actions_that_wait_for_the_next_turn_run_after_a_kill() {
    kill_at(&["third", "fourth"], 2, true);
}

#[test]
fn a_process_killed_at_random_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let place = Place {
        folder: folder.path().into(),
        point: None,
        waits: false,
    };
    let mut kills = 0;
    while !ends_before_kill(start(&place), kills) {
        kills += 1;
        assert!(kills < 2_000, "the child never ends");
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(&place.file()).await.expect("it opens");
        let (expected, effects) = run_undisturbed(TURNS, false).await;
        let state = work(&conversation(&store, &place), TURNS).await;
        assert_eq!(state_value(&state), expected, "after {kills} kills");
        // An effect whose process ended before it was stored happens again.
        for (effect, times) in place.effects() {
            let most = effects[&effect] + usize::try_from(kills).expect("it is small");
            assert!(
                (effects[&effect]..=most).contains(&times),
                "{effect}: {times}"
            );
        }
    });
    println!("{kills} kills");
}

/// Not a test of its own: the process that is killed.
#[test]
fn the_child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let place = Place {
        folder: folder.into(),
        point: std::env::var(POINT).ok(),
        waits: std::env::var_os(WAITS).is_some(),
    };
    let turns = match (&place.point, place.waits) {
        (None, _) => TURNS,
        (Some(_), false) => 1,
        (Some(_), true) => 2,
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(&place.file()).await.expect("it opens");
        work(&conversation(&store, &place), turns).await;
    });
}
