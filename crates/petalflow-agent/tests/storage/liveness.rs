//! Processes that live for a few writes to the store, one after the other: how few writes let a turn end.

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::Retention;
use petalflow::tool::FuncTool;
use petalflow_agent::deep::{DeepAgent, Workspace};
use petalflow_agent::limits::Usage;
use petalflow_agent::{Agent, Conversation};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use petalflow_testing::{Fault, FaultKind, FaultyStore};
use serde_json::{Value, json};

fn answers(request: &LlmRequest) -> usize {
    let messages = request.messages.iter();
    messages
        .filter(|message| message.role == Role::Assistant)
        .count()
}

/// A tool that is called three times.
fn look() -> FuncTool {
    FuncTool::new("look", "Looks.", |_: Value| async { Ok("seen") })
}

/// An agent with a tool, without sub-agents.
fn plain() -> Agent {
    let model = ScriptedModel::from_fn(|request: &LlmRequest| match answers(request) {
        0..3 => Reply::call("look", json!({})).and_call("look", json!({})),
        _ => Reply::text("done"),
    });
    Agent::new(model).tool(look())
}

/// An agent for long work that calls some workers at the same time.
fn with_workers(workers: usize) -> Agent {
    let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
        let is_worker = request.messages[0].text().contains("part");
        match (is_worker, answers(request)) {
            (true, 0) => Reply::call("look", json!({})),
            (false, 0) => (0..workers).fold(Reply::text(""), |reply, part| {
                reply.and_call("worker", json!({ "request": format!("part {part}") }))
            }),
            _ => Reply::text("done"),
        }
    });
    DeepAgent::new(model)
        .workspace(Workspace::in_thread())
        .tools(petalflow::tool::ToolSet::new().with(look()))
        .build()
}

/// What a turn that was killed has: its last answer, the number of its events, and its usage.
type Outcome = (String, usize, Usage);

/// Kills each process right after this many writes to the store. Returns the outcome and the number of processes, or none if the turn does
/// not end.
async fn killed(agent: &Agent, retention: Retention, writes: u64) -> Option<(Outcome, usize)> {
    let store = InMemoryStore::new();
    for processes in 1..400 {
        let process = FaultyStore::new(&store);
        process.inject(Fault {
            kind: FaultKind::KilledAfter,
            nth: writes,
        });
        let threads = agent.store(&process).retention(retention);
        let thread = threads.thread("talk");
        let turn = async {
            let run = match thread.snapshot().await.unwrap() {
                Some(known) if known.is_finished() => return known.state,
                Some(_) => thread.resume(()),
                None => thread.run("Work."),
            };
            run.await.unwrap().into_finished().unwrap()
        };
        let ended: Option<Conversation> = tokio::select! {
            biased;
            () = process.died() => None,
            ended = turn => Some(ended),
        };
        process.detach();
        if let Some(ended) = ended {
            let outcome = (ended.answer(), ended.events.len(), ended.usage());
            return Some((outcome, processes));
        }
    }
    None
}

#[tokio::test]
async fn f44_a_turn_ends_if_each_process_lives_for_two_writes() {
    let agents = [
        ("an agent", plain()),
        ("a worker", with_workers(1)),
        ("two workers", with_workers(2)),
        ("eight workers", with_workers(8)),
    ];
    for (name, agent) in agents {
        for retention in [Retention::ALL, Retention::ALL.with_results()] {
            let (whole, _) = killed(&agent, retention, u64::MAX).await.unwrap();
            assert_eq!(whole.0, "done");
            // It can claim the thread, and nothing else.
            assert_eq!(killed(&agent, retention, 1).await, None, "{name}");
            for writes in 2..=5 {
                let ended = killed(&agent, retention, writes).await;
                let (outcome, processes) = ended.unwrap_or_else(|| {
                    panic!(
                        "{name}, {retention:?}: killed after every {writes} writes, it never ends"
                    )
                });
                assert_eq!(
                    outcome, whole,
                    "{name}, {retention:?}: after {writes} writes"
                );
                println!("{name}, {retention:?}: {writes} writes, {processes} processes");
            }
        }
    }
}
