//! `Llm` and `Tools` over a conversation in a state of one's own.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use petalflow::BoxError;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::tool::ToolCall;
use petalflow::tool::{FuncTool, ToolSet};
use petalflow_llm::nodes::{CallDecision, ConfirmCall, Llm, Model, NodeOutput, Tools};
use petalflow_llm::{ChatMessage, LlmResponse, Part, Reply, Role, ScriptedModel};
use petalflow_llm_test_support::node_outputs;
use petalflow_memory::{InMemory, Memory};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};

#[state]
#[derive(Debug)]
struct Chat {
    #[key(input, append)]
    messages: Vec<ChatMessage>,
}

#[derive(Route)]
enum Turn {
    Act,
    Answer,
}

#[node(Chat)]
async fn choose(messages: &[ChatMessage]) -> Turn {
    let calls = messages
        .last()
        .is_some_and(|last| last.calls().next().is_some());
    if calls { Turn::Act } else { Turn::Answer }
}

/// Adds two numbers.
#[tool]
fn add(
    /// The first one.
    a: i64,
    /// The second one.
    b: i64,
) -> i64 {
    a + b
}

/// Remembers something.
#[tool]
async fn remember(
    /// What.
    fact: String,
    memory: Managed<Memory>,
) -> petalflow::Result<usize> {
    let count = memory.list().await?.len();
    memory.put(&count.to_string(), fact).await?;
    Ok(count + 1)
}

static DELETED: AtomicU32 = AtomicU32::new(0);

/// Deletes everything.
#[tool(confirm)]
fn delete() -> u32 {
    DELETED.fetch_add(1, Ordering::SeqCst) + 1
}

flow! {
    Converse(Chat) {
        START -> think -> choose -> match { Act => act, Answer => END };
        act -> think;
        node think: Llm<ChatMessages> = Llm::new("Use tools.").tools(&tools![add]);
        node act: Tools<ChatMessages> = Tools::managed();
    }
}

fn question(text: &str) -> Vec<ChatMessage> {
    vec![ChatMessage::user(text)]
}

fn tools() -> ToolSet {
    tools![add, remember, delete]
}

#[tokio::test]
async fn a_loop_of_two_nodes_and_a_route() {
    let model = Arc::new(ScriptedModel::new([
        Reply::text("Let me see.")
            .and_call("add", json!({ "a": 1, "b": 2 }))
            .and_call("add", json!({ "a": 3, "b": 4 })),
        "3 and 7.".into(),
    ]));
    let launch = Converse::new()
        .manage(Model::new(Arc::clone(&model)))
        .manage(tools())
        .manage(Memory::new(InMemory::new()));
    let chat = launch
        .run(question("1 + 2? 3 + 4?"))
        .await
        .expect("it runs");
    let roles: Vec<_> = chat.messages.iter().map(|message| message.role).collect();
    assert_eq!(
        roles,
        [Role::User, Role::Assistant, Role::Tool, Role::Assistant]
    );
    let results: Vec<_> = chat.messages[2]
        .tool_results()
        .map(|result| result.content.clone())
        .collect();
    assert_eq!(results, [json!(3), json!(7)]);
    let asked = model.requests();
    assert_eq!(
        (asked[0].tools.len(), asked[0].system.as_deref()),
        (1, Some("Use tools."))
    );
    assert_eq!(*asked[1].messages, chat.messages[..3]);
}

#[tokio::test]
async fn the_model_reads_errors_of_tools() {
    let wrong = ToolCall {
        id: "c4".into(),
        name: "add".into(),
        arguments: json!("{not json"),
        ..ToolCall::default()
    };
    let model = ScriptedModel::new([
        Reply::call("nothing", json!({}))
            .and_call("add", json!({ "a": "one", "b": 2 }))
            .and_call("add", json!({ "a": 1, "b": 2 }))
            .and(Part::Call(wrong)),
        "I see.".into(),
    ]);
    let launch = Converse::new()
        .manage(Model::new(model))
        .manage(tools())
        .manage(Memory::new(InMemory::new()));
    let chat = launch.run(question("?")).await.expect("nothing fails");
    let results: Vec<_> = chat.messages[2].tool_results().collect();
    assert_eq!(
        results[0].content["error"],
        "there is no tool `nothing`; call one of: add, delete, remember"
    );
    let words = results[1].content["error"].as_str().unwrap_or_default();
    assert!(words.contains("`a`") && results[1].is_error, "{words}");
    assert_eq!(
        (&results[2].content, results[2].is_error),
        (&json!(3), false)
    );
    assert!(results[3].is_error && results[3].call_id == "c4");
}

#[tokio::test]
async fn tools_reach_the_memory() {
    let memory = Memory::new(InMemory::new());
    let model = ScriptedModel::new([
        Reply::call("remember", json!({ "fact": "likes tulips" })),
        "Noted.".into(),
    ]);
    let launch = Converse::new()
        .manage(Model::new(model))
        .manage(tools())
        .manage(memory.clone());
    let outputs = node_outputs(launch.run(question("I like tulips."))).await;
    let entry = memory
        .get("0")
        .await
        .expect("it reads")
        .expect("it is there");
    assert_eq!(entry.value, "likes tulips");
    let result = outputs.iter().find_map(|output| match output {
        NodeOutput::Result { result, .. } => Some(result),
        _ => None,
    });
    assert_eq!(result, Some(&json!(1)));
}

#[tokio::test]
async fn a_person_confirms_before_anything_is_called() {
    let refused = || CallDecision::refuse("keep them");
    let changed = json!({ "note": "the user has approved this call with other arguments", "arguments": {}, "result": 2 });
    let mut deleted = 0;
    for (decision, is_called, expected) in [
        (
            false.into(),
            false,
            json!({ "error": "the user has refused this call" }),
        ),
        (
            refused(),
            false,
            json!({ "error": "the user has refused this call: keep them" }),
        ),
        (true.into(), true, json!(1)),
        (CallDecision::change(json!({})), true, changed),
    ] {
        let model = ScriptedModel::new([
            Reply::call("delete", json!({})).and_call("add", json!({ "a": 1, "b": 1 })),
            "Done.".into(),
        ]);
        let store = InMemoryStore::new();
        let threads = Converse::new()
            .manage(Model::new(model))
            .manage(tools())
            .manage(Memory::new(InMemory::new()))
            .launch()
            .store(&store);
        let thread = threads.thread("t");
        let paused = thread
            .run(question("Delete it all."))
            .await
            .expect("it runs");
        assert_eq!(DELETED.load(Ordering::SeqCst), deleted, "nobody has agreed");
        deleted += u32::from(is_called);
        assert_eq!(paused.state().messages.len(), 2);
        let chat = thread
            .answer::<ConfirmCall>(decision)
            .await
            .expect("it goes on");
        let chat = chat.into_finished().expect("it ends");
        let result: &Value = &chat.messages[2]
            .tool_results()
            .next()
            .expect("it is there")
            .content;
        assert_eq!(result, &expected);
    }
}

#[tokio::test]
async fn nodes_name_the_missing_values() {
    let error = Converse::new()
        .manage(tools())
        .manage(Memory::new(InMemory::new()))
        .run(question("?"))
        .await
        .expect_err("no model");
    assert_contains(&error, "node `think` has no model");
    let model = Model::new(ScriptedModel::new([Reply::call("add", json!({}))]));
    let error = Converse::new()
        .manage(model)
        .run(question("?"))
        .await
        .expect_err("no tools");
    assert_contains(&error, "node `act` has no tools");
    let _: BoxError = error.into();
}

#[tokio::test]
async fn a_call_that_had_ended_is_not_made_again() {
    let (counted, died) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (count, die) = (Arc::clone(&counted), Arc::clone(&died));
    let count = FuncTool::new("count", "Counts.", move |_: Value| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(number) }
    });
    let die = FuncTool::new("die", "Dies once.", move |_: Value| {
        let first = die.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            tokio::task::yield_now().await;
            assert!(!first, "it dies");
            Ok("alive")
        }
    });
    let calls = Reply::call("die", json!({})).and_call("count", json!({}));
    let model = ScriptedModel::new([calls, "Done.".into()]);
    let store = InMemoryStore::new();
    let launch = Converse::new()
        .manage(Model::new(model))
        .manage(ToolSet::new().with(count).with(die));
    let thread = launch.launch().store(&store).thread("t");
    thread.run(question("?")).await.expect_err("a tool panics");
    let chat = thread
        .resume(())
        .await
        .expect("it goes on")
        .into_finished()
        .expect("it ends");
    let results: Vec<_> = chat.messages[2]
        .tool_results()
        .map(|result| result.content.clone())
        .collect();
    assert_eq!(results, [json!("alive"), json!(1)]);
    assert_eq!(
        (counted.load(Ordering::SeqCst), died.load(Ordering::SeqCst)),
        (1, 2)
    );
}

#[state]
struct Shared {
    #[key(input, append)]
    messages: Arc<Vec<ChatMessage>>,
}

flow! {
    /// Three calls of a model, and one of a tool, over one conversation.
    Share(Shared) {
        first -> act -> second -> third;
        node first: Llm<SharedMessages>;
        node act: Tools<SharedMessages>;
        node second: Llm<SharedMessages>;
        node third: Llm<SharedMessages>;
    }
}

/// Says where in memory the conversation is that each request brings, and how long it is.
#[tokio::test]
async fn requests_share_the_conversation_however_long_it_is() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let model = ScriptedModel::from_fn(move |request| {
        let place = Arc::as_ptr(&request.messages) as usize;
        noted.lock().unwrap().push((place, request.messages.len()));
        match request.messages.len() {
            1_000 => LlmResponse {
                message: Some(ChatMessage::new(
                    Role::Assistant,
                    vec![Part::Call(ToolCall {
                        name: "add".into(),
                        arguments: json!({"a": 1, "b": 2}),
                        ..ToolCall::default()
                    })],
                )),
                ..LlmResponse::default()
            },
            _ => LlmResponse::text_only("ok"),
        }
    });
    let flow = Share::new()
        .first(Llm::new(""))
        .act(Tools::new(tools![add]))
        .second(Llm::new(""))
        .third(Llm::new(""));
    let history: Vec<_> = (0..1_000)
        .map(|n| ChatMessage::user(n.to_string()))
        .collect();
    let history = Arc::new(history);
    let place = Arc::as_ptr(&history) as usize;
    let shared = flow
        .manage(Model::new(model.without_recording()))
        .run(history)
        .await
        .unwrap();
    assert_eq!(shared.messages.len(), 1_004);
    // The history that was given is the one that all requests brought, and the one that grew.
    let lengths = [1_000, 1_002, 1_003].map(|length| (place, length));
    assert_eq!(*seen.lock().unwrap(), lengths);
    assert_eq!(Arc::as_ptr(&shared.messages) as usize, place);
}
