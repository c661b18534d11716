//! The cost of a conversation's document and of its turns without the model: `cargo bench --bench conversation`. Each
//! figure has a limit.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use petalflow::tool::{FuncTool, ToolContext};
use petalflow_benches::table::{head, row};
use petalflow_conversations::document::{Conversation, Source, check};
use petalflow_conversations::{ConversationFlow, ConversationState, ConversationStateInput};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    head();
    documents();
    turns(&runtime);
}

/// How long a document of 1,000 nodes takes from its text to a flow.
fn documents() {
    for (form, text) in [("flow.json", editor()), ("flow.yaml", config())] {
        let source = Source::new(form, text);
        let mut times = Vec::new();
        for _ in 0..50 {
            let begun = Instant::now();
            let document = check(&source).expect("it has no errors").conversation;
            let flow = ConversationFlow::builder(document)
                .model(ScriptedModel::new(["Hello."]))
                .build();
            times.push(begun.elapsed());
            black_box(flow.expect("it needs no handlers"));
        }
        let time = median(&mut times);
        let millis = format!("{:.1} ms", time.as_secs_f64() * 1e3);
        row(&format!("load 1,000 nodes, {form}"), &millis, "20 ms");
    }
}

/// A document of the editor in which each node leads to the next, with a function that has parameters.
fn editor() -> String {
    let nodes = (0..1_000).map(|index| {
        let next = format!("step_{}", (index + 1) % 1_000);
        let decision = json!({ "action": "result = args['size']", "default_next_node_id": next, "conditions": [
            { "operator": "==", "value": "\"large\"", "next_node_id": next }] });
        json!({
            "id": format!("step_{index}"),
            "type": if index == 0 { "initial" } else { "node" },
            "position": { "x": index, "y": 0 },
            "data": {
                "label": format!("Step {index}"),
                "task_messages": [{ "role": "system", "content": "Ask for {{ what }} and go on." }],
                "functions": [
                    { "name": "go_on", "description": "Goes on.", "next_node_id": next },
                    { "name": "go_back", "description": "Goes back.", "properties": {}, "next_node_id": "step_0" },
                ],
                "pre_actions": [{ "type": "tts_say", "text": "One moment." }],
                "meta": decision,
            },
        })
    });
    let nodes: Vec<Value> = nodes.collect();
    json!({ "meta": { "name": "Large", "version": "1" }, "edges": [], "nodes": nodes }).to_string()
}

/// The same in the declarative form.
fn config() -> String {
    let mut text = "initial_node: step_0\nnodes:\n".to_owned();
    for index in 0..1_000 {
        let next = (index + 1) % 1_000;
        let _ = write!(
            text,
            "  step_{index}:
    task_messages:
      - {{ role: developer, content: 'Ask for {{{{ what }}}} and go on.' }}
    functions:
      - {{ name: go_on, transition_only: true, description: Goes on., transition_to: step_{next} }}
      - {{ name: go_back, transition_only: true, description: Goes back., transition_to: step_0 }}
    pre_actions:
      - {{ type: tts_say, text: One moment. }}
"
        );
    }
    text
}

/// A conversation whose model calls a function that leads to another node, and answers there.
fn flow() -> ConversationFlow {
    let config = json!({
        "initial_node": "ask",
        "nodes": {
            "ask": { "task_messages": [{ "role": "developer", "content": "Ask." }],
                "functions": [{ "name": "note", "transition_to": "tell" }] },
            "tell": { "task_messages": [{ "role": "developer", "content": "Tell {{ note }}." }],
                "functions": [{ "name": "note", "transition_to": "ask" }] },
        },
    });
    let config = serde_json::from_value(config).expect("the types fit");
    let document = Conversation::from_config(&config).expect("it has no errors");
    let model = ScriptedModel::from_fn(|request: &LlmRequest| {
        match request.messages.last().map(|last| last.role) {
            Some(Role::User) => Reply::call("note", json!({ "n": 1 })),
            _ => Reply::text("Noted."),
        }
    });
    let note = FuncTool::with_context("note", "Notes.", |_: Value, cx: ToolContext| {
        cx.set_state("note", 1);
        async { Ok("noted") }
    });
    let flow = ConversationFlow::builder(document).model(model.without_recording());
    flow.tool(note).build().expect("all handlers are there")
}

/// A turn with a function and a transition, after some turns.
fn turns(runtime: &Runtime) {
    let flow = flow();
    let turn =
        |input: ConversationStateInput| runtime.block_on(flow.run(input)).expect("it answers");
    let after = |turns: usize| -> ConversationState {
        let first = turn(ConversationStateInput::user_message("One."));
        (1..turns).fold(first, |state, _| turn(state.next_input("One more.")))
    };
    for turns in [10, 1_000, 3_000] {
        let mut state = after(turns);
        let mut times = Vec::new();
        for _ in 0..1_000 {
            let begun = Instant::now();
            state = turn(state.next_input("One more."));
            times.push(begun.elapsed());
            if times.len() % 200 == 0 {
                state = after(turns);
            }
        }
        let micros = format!("{:.1} us", median(&mut times).as_secs_f64() * 1e6);
        row(
            &format!("a turn with a function and a transition, after {turns} turns"),
            &micros,
            "20 us",
        );
        let input = state.next_input("One more.");
        let info = allocation_counter::measure(|| {
            black_box(turn(input));
        });
        row("  its allocations", &info.count_total.to_string(), "alike");
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
