//! The cost of an agent's turn without its model and its tools: `cargo bench --bench agent`. Each figure has a limit.
//! The bench `turn` counts instructions.

#![allow(clippy::cast_precision_loss)]

mod adder;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adder::{agent, conversation};
use petalflow::async_trait;
use petalflow::checkpoint::InMemoryStore;
use petalflow_benches::table::{head, row};
use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    head();
    turns(&runtime);
    kept_turns(&runtime);
    stored_turns(&runtime);
    streams(&runtime);
    waiting();
}

/// A turn with one tool call, in conversations of several lengths.
fn turns(runtime: &Runtime) {
    for messages in [10, 1_000, 10_000] {
        let agent = agent();
        let mut talk = conversation(runtime, &agent, messages);
        let mut times = Vec::new();
        for _ in 0..2_000 {
            let begun = Instant::now();
            talk = runtime
                .block_on(agent.run(talk.next_input("1 + 2?")))
                .expect("it answers");
            times.push(begun.elapsed());
            if talk.events.len() > messages + 400 {
                talk = conversation(runtime, &agent, messages);
            }
        }
        assert_eq!(talk.answer(), "3");
        row(
            &format!("a turn with a tool, after {messages} messages"),
            &micros(median(&mut times)),
            "20 us",
        );
        let input = talk.next_input("1 + 2?");
        let info = allocation_counter::measure(|| {
            black_box(runtime.block_on(agent.run(input)).expect("it answers"));
        });
        row("  its allocations", &info.count_total.to_string(), "alike");
    }
}

/// The same if the program keeps the conversation before the turn.
fn kept_turns(runtime: &Runtime) {
    for messages in [10, 1_000, 10_000] {
        let agent = agent();
        let talk = conversation(runtime, &agent, messages);
        let mut times = Vec::new();
        for _ in 0..500 {
            let begun = Instant::now();
            let input = talk.clone().next_input("1 + 2?");
            black_box(runtime.block_on(agent.run(input)).expect("it answers"));
            times.push(begun.elapsed());
        }
        row(
            &format!("a turn with a tool, {messages} messages kept"),
            &micros(median(&mut times)),
            "",
        );
    }
}

/// The same on a thread: a store in memory has the conversation.
fn stored_turns(runtime: &Runtime) {
    for messages in [10, 1_000, 10_000] {
        let (agent, store) = (agent(), InMemoryStore::new());
        let talk = conversation(runtime, &agent, messages);
        let thread = agent.store(&store).thread("t");
        let turn = |input| {
            let begun = Instant::now();
            let talk = runtime.block_on(thread.run(input)).expect("it answers");
            black_box(talk.into_finished().expect("it answers"));
            begun.elapsed()
        };
        turn(talk.next_input("1 + 2?"));
        let mut times: Vec<_> = (0..100).map(|_| turn("1 + 2?".into())).collect();
        row(
            &format!("a turn with a tool, {messages} messages stored"),
            &micros(median(&mut times)),
            "",
        );
    }
}

/// The same with a stream.
fn streams(runtime: &Runtime) {
    use futures_util::StreamExt as _;
    let agent = agent().streaming();
    let mut times = Vec::new();
    for _ in 0..2_000 {
        let begun = Instant::now();
        let progress = runtime.block_on(agent.events("1 + 2?").count());
        times.push(begun.elapsed());
        black_box(progress);
    }
    row(
        "a turn with a tool, streamed to a listener",
        &micros(median(&mut times)),
        "",
    );
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

/// Answers after some time.
struct Slow;

#[async_trait]
impl LlmClient for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Ok(LlmResponse::text_only("done"))
    }
}

/// A thousand agents that wait for their models at the same time: the peak memory. On one thread, because the counter counts the
/// current thread only.
fn waiting() {
    const AGENTS: usize = 1_000;
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    let agent = agent().model(Arc::new(Slow));
    let work = || {
        runtime.block_on(async {
            let handles: Vec<_> = (0..AGENTS)
                .map(|_| {
                    let run = agent.run("a question of some words, as people ask them");
                    tokio::spawn(async move { run.await.expect("it answers").answer().len() })
                })
                .collect();
            for handle in handles {
                black_box(handle.await.expect("no task panics"));
            }
        });
    };
    work();
    let peak = allocation_counter::measure(work).bytes_max as f64;
    row(
        "1,000 agents waiting at once",
        &format!("{:.1} MiB", peak / 1_048_576.0),
        "100 MiB",
    );
}
