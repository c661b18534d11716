//! One turn of an agent, for `valgrind --tool=callgrind BENCH CASE RUNS`. The difference between two numbers of runs is the
//! cost of the runs. It has no counting allocator, which costs instructions itself.
//!
//! The cases:
//!
//! * `turn`: a turn with one typed tool in a conversation that goes on, from ten messages to four hundred.
//! * `kept`: the same after ten messages, of a conversation that the program keeps. `copy` is the program's copy alone.
//! * `stream`: a streamed turn with one typed tool, whose events are read.
//! * `hand`: the work of `turn` without an agent.

mod adder;

use std::hint::black_box;
use std::sync::Arc;

use adder::{agent, conversation, model, sum};
use futures_util::StreamExt as _;
use petalflow::tool::{Tool, ToolContext, ToolResult};
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest, ScriptedModel};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let runtime = Builder::new_current_thread()
        .build()
        .expect("a runtime can be built");
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo bench` gives one argument.
    let [_, case, runs] = &*arguments else {
        println!(
            "BENCH CASE RUNS, with one of the cases `turn`, `kept`, `copy`, `stream` and `hand`"
        );
        return;
    };
    let runs = runs.parse().expect("RUNS is a number");
    match &**case {
        "turn" => turns(&runtime, runs),
        "kept" => kept(&runtime, runs),
        "copy" => copies(&runtime, runs),
        "stream" => streams(&runtime, runs),
        "hand" => by_hand(&runtime, runs),
        other => panic!("there is no case `{other}`"),
    }
}

fn turns(runtime: &Runtime, runs: usize) {
    let agent = agent();
    let mut talk = conversation(runtime, &agent, 10);
    for _ in 0..runs {
        if talk.events.len() > 400 {
            talk = conversation(runtime, &agent, 10);
        }
        let turn = agent.run(talk.next_input("1 + 2?"));
        talk = runtime.block_on(turn).expect("it answers");
    }
    black_box(talk);
}

fn kept(runtime: &Runtime, runs: usize) {
    let agent = agent();
    let talk = conversation(runtime, &agent, 10);
    for _ in 0..runs {
        let turn = agent.run(talk.clone().next_input("1 + 2?"));
        black_box(runtime.block_on(turn).expect("it answers"));
    }
}

fn copies(runtime: &Runtime, runs: usize) {
    let talk = conversation(runtime, &agent(), 10);
    for _ in 0..runs {
        black_box(talk.clone());
    }
}

fn streams(runtime: &Runtime, runs: usize) {
    let agent = agent().streaming();
    for _ in 0..runs {
        black_box(runtime.block_on(agent.events("1 + 2?").count()));
    }
}

/// A loop over the model and the tool.
fn by_hand(runtime: &Runtime, runs: usize) {
    let model = model();
    for _ in 0..runs.div_ceil(100) {
        let mut messages = (0..10)
            .map(|place| ChatMessage::user(format!("message {place}")))
            .collect();
        for _ in 0..runs.min(100) {
            messages = runtime.block_on(turn_by_hand(&model, messages));
        }
        black_box(messages);
    }
}

async fn turn_by_hand(model: &ScriptedModel, mut messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    messages.push(ChatMessage::user("1 + 2?"));
    let tool = sum {};
    let mut request = LlmRequest {
        system: Some("Add what you are given.".into()),
        messages: Arc::new(messages),
        tools: [Arc::clone(tool.spec())].into(),
        ..LlmRequest::default()
    };
    loop {
        let response = model.complete(&request).await.expect("it answers");
        let messages = Arc::make_mut(&mut request.messages);
        let answer = response.message.expect("it answers");
        let mut results = Vec::new();
        for call in answer.calls() {
            let context = ToolContext::new(&*call.id);
            let content = tool.call(call.arguments.clone(), &context).await;
            results.push(ToolResult {
                call_id: call.id.clone(),
                name: call.name.clone(),
                content: content.expect("it adds"),
                is_error: false,
            });
        }
        messages.push(answer);
        if results.is_empty() {
            return std::mem::take(messages);
        }
        messages.push(ChatMessage::results(results));
    }
}
