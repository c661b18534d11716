//! Fifty threads of agents, each replayed with the same program and with programs that differ in one thing.

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::{Retention, ThreadFile};
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_testing::{Replay, ReplayReport};
use serde_json::{Value, json};

/// What differs in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Change {
    #[default]
    Nothing,
    Instruction,
    ToolDescription,
    ToolSchema,
    ToolAdded,
    Setting,
    OutputSchema,
    CalledAgent,
}

const CHANGES: [Change; 7] = [
    Change::Instruction,
    Change::ToolDescription,
    Change::ToolSchema,
    Change::ToolAdded,
    Change::Setting,
    Change::OutputSchema,
    Change::CalledAgent,
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Short {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Long {
    text: String,
    pages: u32,
}

fn tool(name: &str, description: &str, field: &str) -> FuncTool {
    let parameters = json!({
        "type": "object",
        "properties": { field: { "type": "integer" } },
        "additionalProperties": true,
    });
    let spec = ToolSpec::new(name, description, parameters);
    FuncTool::untyped(spec, |_: Value, _| async { Ok(json!("rain")) })
}

/// The agent of thread `n`, with one difference. Some answer by a schema, and some call another agent.
fn agent(n: usize, change: Change, replies: Vec<Reply>, inner: Vec<Reply>) -> Agent {
    let is = |other: Change| change == other;
    let instruction = if is(Change::Instruction) {
        "Be long."
    } else {
        "Be brief."
    };
    let description = if is(Change::ToolDescription) {
        "Tells it."
    } else {
        "The weather."
    };
    let field = if is(Change::ToolSchema) { "days" } else { "n" };
    let mut agent = Agent::new(ScriptedModel::new(replies))
        .name("desk")
        .instructions(format!("You are desk {n}."))
        .instructions(instruction)
        .tool(tool("weather", description, field));
    if is(Change::ToolAdded) {
        agent = agent.tool(tool("tides", "The tides.", "n"));
    }
    if is(Change::Setting) {
        agent = agent.request(|request| request.temperature = Some(0.25));
    }
    if has_output(n) {
        agent = if is(Change::OutputSchema) {
            agent.output::<Long>()
        } else {
            agent.output::<Short>()
        };
    }
    if calls_agent(n) {
        let known = if is(Change::CalledAgent) {
            "snow"
        } else {
            "rain"
        };
        let expert = Agent::new(ScriptedModel::new(inner))
            .name("expert")
            .mode(Mode::SingleTurn)
            .instructions(format!("You know {known}."));
        agent = agent.sub_agent(expert);
    }
    agent
}

fn has_output(n: usize) -> bool {
    n.is_multiple_of(3)
}

fn calls_agent(n: usize) -> bool {
    n.is_multiple_of(4)
}

/// How many turns the thread has, and how many calls of tools each turn.
fn shape(n: usize) -> (usize, usize) {
    (1 + n % 2, n % 3)
}

async fn stored(n: usize) -> ThreadFile {
    let (turns, calls) = shape(n);
    let (mut replies, mut inner) = (Vec::new(), Vec::new());
    for turn in 0..turns {
        for call in 0..calls {
            replies.push(Reply::call("weather", json!({ "n": call })));
        }
        if calls_agent(n) {
            replies.push(Reply::call("expert", json!({ "request": "is it wet?" })));
            inner.push(Reply::from("yes"));
        }
        let text = format!("rain {turn}");
        replies.push(if has_output(n) {
            json!({ "text": text }).to_string().into()
        } else {
            text.into()
        });
    }
    let agent = agent(n, Change::Nothing, replies, inner);
    let threads = agent
        .store(&InMemoryStore::new())
        .retention(Retention::ALL.with_results());
    let thread = threads.thread(format!("desk-{n}"));
    for turn in 0..turns {
        let line = format!("how is it, {turn}?");
        thread.run(line).await.unwrap().into_finished().unwrap();
    }
    let text = thread.export().await.unwrap().to_string();
    text.parse().unwrap()
}

async fn replayed(file: &ThreadFile, n: usize, change: Change) -> ReplayReport {
    // No model has a reply: a call of one would fail.
    let today = agent(n, change, Vec::new(), Vec::new());
    let replay = Replay::of_file(file.clone()).flow(today.launch());
    replay.requests().report().await
}

/// The names of the parts in which requests differ, of each request.
fn parts(report: &ReplayReport) -> Vec<(bool, String)> {
    let rows = report.replayed.differences.iter();
    rows.map(|row| {
        let is_inner = !row.flow.is_empty();
        (is_inner, format!("{} {}", row.kind, row.name))
    })
    .collect()
}

#[tokio::test]
async fn f44_each_planted_change_of_fifty_agents_is_found_and_nothing_else() {
    for n in 0..50 {
        let file = stored(n).await;
        let (turns, calls) = shape(n);
        let called = if calls_agent(n) { turns } else { 0 };
        let own = turns * (calls + 1) + called;
        let same = replayed(&file, n, Change::Nothing).await;
        assert!(same.is_same(), "{n}: {same}\n{file}");
        assert_eq!(same.replayed.requests, (own + called) as u64, "{n}: {same}");
        assert_eq!(
            (same.replayed.requests_left, same.replayed.ran),
            (0, 0),
            "{n}: {same}"
        );
        // Two of the seven, so that each is in many threads.
        for change in [CHANGES[n % 7], CHANGES[(n + 3) % 7]] {
            let report = replayed(&file, n, change).await;
            let names: &[&str] = match change {
                Change::Instruction => &["system"],
                Change::ToolDescription => &["tool weather description"],
                Change::ToolSchema => &["tool weather schema"],
                Change::ToolAdded => &["tool tides description", "tool tides schema"],
                Change::Setting => &["temperature"],
                Change::OutputSchema if has_output(n) => &["tool set_model_response schema"],
                Change::CalledAgent if calls_agent(n) => &["system"],
                Change::Nothing | Change::OutputSchema | Change::CalledAgent => &[],
            };
            let is_inner = change == Change::CalledAgent;
            let requests = if is_inner { called } else { own };
            let of_request = names
                .iter()
                .map(|name| (is_inner, format!("request {name}")));
            let expected: Vec<(bool, String)> =
                (0..requests).flat_map(|_| of_request.clone()).collect();
            assert_eq!(parts(&report), expected, "{n} {change:?}: {report}");
        }
    }
}
