//! Threads of deep agents: a plan, files, long results, and workers at the same time, replayed with the same and with changed programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::prelude::*;
use petalflow::thread::{Retention, ThreadFile};
use petalflow::tool::{FuncTool, Tool, ToolSpec};
use petalflow_agent::compaction::{LastMessages, Summary};
use petalflow_agent::deep::{DeepAgent, Workspace};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::nodes::{Llm, Model, Prompt, Tools};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use petalflow_testing::{Replay, ReplayReport};
use serde_json::{Value, json};

/// What differs in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Change {
    #[default]
    Nothing,
    Instruction,
    WorkerInstruction,
    ToolSchema,
    ToolOrder,
    ToolRemoved,
    Model,
}

/// The number of answers that the model has given in this conversation.
fn answers(request: &LlmRequest) -> usize {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role == Role::Assistant)
        .count()
}

fn reply(request: &LlmRequest) -> Reply {
    let first = request.messages[0].text();
    let is_worker = first.contains("Read the");
    let part = if first.contains("roses") {
        "roses"
    } else {
        "tulips"
    };
    match (is_worker, answers(request)) {
        (false, 0) => Reply::call(
            "write_plan",
            json!({ "items": [{ "text": "read", "state": "active" }] }),
        ),
        (false, 1) => Reply::call("worker", json!({ "request": "Read the roses." }))
            .and_call("gardener", json!({ "request": "Read the tulips." })),
        (false, 2) => Reply::call("ls", json!({})),
        (true, 0) => Reply::call("library", json!({ "shelf": 1 })),
        (true, 1) => Reply::call(
            "write_file",
            json!({ "path": format!("{part}.md"), "text": part }),
        ),
        _ => Reply::text("done"),
    }
}

/// The tools, and how often they were called.
fn tools(change: Change, calls: &Arc<AtomicUsize>) -> Vec<Arc<dyn Tool>> {
    let field = if change == Change::ToolSchema {
        "row"
    } else {
        "shelf"
    };
    let parameters = json!({
        "type": "object",
        "properties": { field: { "type": "integer" } },
        "additionalProperties": true,
    });
    let tool = |name: &str, text: &'static str| {
        let calls = Arc::clone(calls);
        let spec = ToolSpec::new(name, "Knows plants.", parameters.clone());
        let tool = FuncTool::untyped(spec, move |_: Value, _| {
            calls.fetch_add(1, SeqCst);
            async move { Ok(json!(text.repeat(600))) }
        });
        Arc::new(tool) as Arc<dyn Tool>
    };
    let (library, garden) = (tool("library", "x"), tool("garden", "y"));
    match change {
        Change::ToolOrder => vec![garden, library],
        Change::ToolRemoved => vec![library],
        _ => vec![library, garden],
    }
}

/// The program, and how often its tools and its model were called.
fn program(change: Change, calls: &Arc<AtomicUsize>) -> Agent {
    let is = |other: Change| change == other;
    let counted = Arc::clone(calls);
    let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
        counted.fetch_add(1, SeqCst);
        reply(request)
    });
    let model = Arc::new(model);
    let known = if is(Change::WorkerInstruction) {
        "flowers"
    } else {
        "plants"
    };
    let worker = Agent::new(Arc::clone(&model))
        .name("gardener")
        .description("Knows plants.")
        .mode(Mode::SingleTurn)
        .tools(tools(change, calls))
        .workspace(Workspace::in_thread())
        .instructions(format!("You know {known}."));
    let task = if is(Change::Instruction) {
        "Be long."
    } else {
        "Be brief."
    };
    let agent = DeepAgent::new(model)
        .tools(tools(change, calls))
        .long_results(500)
        .sub_agent(worker)
        .build()
        .instructions(task);
    match change {
        Change::Model => agent.request(|request| request.model = Some("another".into())),
        _ => agent,
    }
}

async fn stored(agent: &Agent, store: &(impl Store + Clone + 'static)) -> ThreadFile {
    let threads = agent.store(store).retention(Retention::ALL.with_results());
    let thread = threads.thread("garden");
    for line in ["What is in the library?", "Thanks."] {
        thread.run(line).await.unwrap().into_finished().unwrap();
    }
    thread.export().await.unwrap().to_string().parse().unwrap()
}

async fn replayed(file: &ThreadFile, change: Change) -> ReplayReport {
    let calls = Arc::default();
    let agent = program(change, &calls);
    let replay = Replay::of_file(file.clone()).flow(agent.launch());
    let report = replay.requests().report().await;
    assert_eq!(calls.load(SeqCst), 0, "{change:?}: {report}");
    report
}

/// The kinds and names of the rows, each once, without the numbers of requests.
fn found(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter();
    let mut rows: Vec<String> = rows
        .map(|row| {
            let flow = if row.flow.is_empty() { "" } else { "called: " };
            format!("{flow}{} {}", row.kind, row.name)
        })
        .collect();
    rows.sort();
    rows.dedup();
    rows
}

fn of(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|row| (*row).to_string()).collect()
}

/// The rows of parts of tools, in the requests of the agent and of the agents that it calls.
fn of_all(parts: &[&str]) -> Vec<String> {
    let rows = parts
        .iter()
        .flat_map(|part| ["", "called: "].map(|flow| format!("{flow}request tool {part}")));
    rows.collect()
}

#[tokio::test]
async fn f44_each_planted_change_of_a_deep_agent_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("garden.db"))
        .await
        .unwrap();
    let calls = Arc::default();
    let agent = program(Change::Nothing, &calls);
    let files = [
        stored(&agent, &InMemoryStore::new()).await,
        stored(&agent, &sqlite).await,
    ];
    for file in &files {
        let same = replayed(file, Change::Nothing).await;
        assert!(same.is_same(), "{same}");
        // Five of the agent, three of its worker, and three of the gardener.
        let replay = &same.replayed;
        assert_eq!((replay.requests, replay.requests_left), (11, 0), "{same}");
        for (change, expected) in [
            (Change::Instruction, of(&["request system"])),
            (Change::WorkerInstruction, of(&["called: request system"])),
            (
                Change::ToolSchema,
                of_all(&["library schema", "garden schema"]),
            ),
            (
                Change::ToolOrder,
                of(&["called: request order", "request order"]),
            ),
            (
                Change::ToolRemoved,
                of_all(&["garden schema", "garden description"]),
            ),
            (Change::Model, of(&["request model"])),
        ] {
            let report = replayed(file, change).await;
            let mut expected: Vec<&str> = expected.iter().map(|row| &**row).collect();
            expected.sort_unstable();
            assert_eq!(found(&report), expected, "{change:?}: {report}");
        }
    }
}

#[tokio::test]
async fn f44_the_requests_of_a_compaction_are_compared() {
    let agent = |summary: &str, replies: &[&'static str]| {
        let model = ScriptedModel::new(replies.iter().copied());
        let small = ScriptedModel::new(replies.first().copied().map(|_| "They talked."));
        let compaction = Summary::new(small, LastMessages::new(4).keep(1)).instructions(summary);
        Agent::new(model).compaction(compaction)
    };
    let store = InMemoryStore::new();
    let before = agent("Be brief.", &["one", "two", "three"]);
    let threads = before
        .store(&store)
        .retention(Retention::ALL.with_results());
    let thread = threads.thread("long");
    for line in ["first", "second", "third"] {
        thread.run(line).await.unwrap().into_finished().unwrap();
    }
    let file: ThreadFile = thread.export().await.unwrap().to_string().parse().unwrap();
    let same = Replay::of_file(file.clone()).flow(agent("Be brief.", &[]).launch());
    let same = same.requests().report().await;
    assert!(same.is_same(), "{same}");
    // Three of the agent, and one of the compaction.
    assert_eq!(
        (same.replayed.requests, same.replayed.requests_left),
        (4, 0),
        "{same}"
    );
    let changed = Replay::of_file(file).flow(agent("Be exact.", &[]).launch());
    let changed = changed.requests().report().await;
    assert_eq!(changed.replayed.differences.len(), 1, "{changed}");
    let row = &changed.replayed.differences[0];
    assert_eq!(row.node.as_deref(), Some("compact"), "{changed}");
    assert!(
        row.expected.contains("Be brief.") && row.found.contains("Be exact."),
        "{changed}"
    );
}

#[state]
struct Notes {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    messages: Vec<ChatMessage>,
}

/// Writes the draft into the conversation.
#[node(Notes)]
async fn hand_over(draft: &str) -> NotesMessages {
    NotesMessages(vec![ChatMessage::user(format!("Review: {draft}"))])
}

flow! {
    Review(Notes) {
        write -> hand_over -> review -> act -> conclude;
        node write: Prompt<NotesTopic, NotesDraft> = Prompt::new("Write a line.");
        node review: Llm<NotesMessages> = Llm::new("You review.").tools(&tools![lookup]);
        node act: Tools<NotesMessages> = Tools::new(tools![lookup]);
        node conclude: Llm<NotesMessages> = Llm::new("You conclude.");
    }
}

/// Looks something up.
#[tool]
fn lookup(word: String) -> String {
    format!("{word} is a word")
}

mod today {
    use super::{ChatMessage, Notes, NotesDraft, NotesMessages, NotesTopic, lookup};
    use petalflow::prelude::*;
    use petalflow_llm::nodes::{Llm, Prompt, Tools};

    /// Hands it over in other words.
    #[node(Notes)]
    async fn hand_over(draft: &str) -> NotesMessages {
        NotesMessages(vec![ChatMessage::user(format!("Please review: {draft}"))])
    }

    flow! {
        pub(super) Review(Notes) {
            write -> hand_over -> review -> act;
            node write: Prompt<NotesTopic, NotesDraft> = Prompt::new("Write two lines.");
            node review: Llm<NotesMessages> = Llm::new("You review.").tools(&tools![lookup]);
            node act: Tools<NotesMessages> = Tools::new(tools![lookup]);
        }
    }
}

/// The state with a renamed key.
mod renamed {
    use super::{ChatMessage, lookup};
    use petalflow::prelude::*;
    use petalflow_llm::nodes::{Llm, Prompt, Tools};

    #[state]
    pub(super) struct Notes {
        #[key(input)]
        topic: String,
        text: String,
        #[key(append)]
        messages: Vec<ChatMessage>,
    }

    #[node(Notes)]
    async fn hand_over(text: &str) -> NotesMessages {
        NotesMessages(vec![ChatMessage::user(format!("Review: {text}"))])
    }

    flow! {
        pub(super) Review(Notes) {
            write -> hand_over -> review -> act -> conclude;
            node write: Prompt<NotesTopic, NotesText> = Prompt::new("Write a line.");
            node review: Llm<NotesMessages> = Llm::new("You review.").tools(&tools![lookup]);
            node act: Tools<NotesMessages> = Tools::new(tools![lookup]);
            node conclude: Llm<NotesMessages> = Llm::new("You conclude.");
        }
    }
}

/// A model that must not be asked.
fn silent() -> Model {
    Model::new(ScriptedModel::new(Vec::<Reply>::new()))
}

fn rows(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter();
    let rows = rows.map(|row| {
        let node = row.node.as_deref().unwrap_or("-");
        format!(
            "{node} {} {}: {} => {}",
            row.kind, row.name, row.expected, row.found
        )
    });
    rows.collect()
}

#[tokio::test]
async fn f44_changes_of_flows_with_nodes_that_ask_models_are_found_and_nothing_else() {
    let replies = [
        Reply::text("Petals."),
        Reply::call("lookup", json!({ "word": "petal" })),
        Reply::text("It is good."),
    ];
    let launch = Review::new().manage(Model::new(ScriptedModel::new(replies)));
    let threads = launch.store(&InMemoryStore::new());
    let threads = threads.retention(Retention::ALL.with_results());
    let thread = threads.thread("review");
    let run = thread.run("petals".to_string());
    run.await.unwrap().into_finished().unwrap();
    let file: ThreadFile = thread.export().await.unwrap().to_string().parse().unwrap();
    let replay = || Replay::of_file(file.clone());

    let same = replay()
        .flow(Review::new().manage(silent()).launch())
        .requests()
        .report()
        .await;
    assert!(same.is_same(), "{same}");
    assert_eq!(
        (same.replayed.requests, same.replayed.requests_left),
        (3, 0),
        "{same}"
    );

    // The prompt of `write`, the code of `hand_over`, and `conclude` is gone.
    let flow = today::Review::new().manage(silent()).launch();
    let changed = replay()
        .flow(flow)
        .requests()
        .run("hand_over")
        .report()
        .await;
    let found = rows(&changed);
    assert_eq!(found.len(), 4, "{changed}");
    assert!(
        found[0].starts_with("conclude node : node conclude"),
        "{changed}"
    );
    assert_eq!(
        found[1],
        "write request system: \"Write a line.\" => \"Write two lines.\""
    );
    assert!(
        found[2].starts_with("hand_over output messages"),
        "{changed}"
    );
    assert!(found[2].contains("Please review"), "{changed}");
    assert!(
        found[3].starts_with("conclude resume checkpoint 4: resumes => "),
        "{changed}"
    );

    let renamed = replay()
        .flow(renamed::Review::new().manage(silent()).launch())
        .requests();
    let renamed = renamed.report().await;
    let keys: Vec<String> = rows(&renamed);
    assert!(
        keys.iter().any(|row| row.starts_with("- key draft: ")),
        "{renamed}"
    );
    assert!(
        keys.iter().any(|row| row.starts_with("- key text: ")),
        "{renamed}"
    );
}
