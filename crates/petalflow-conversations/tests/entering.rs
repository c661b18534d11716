//! The entry of a node.

use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::FuncTool;
use petalflow_conversations::document::{
    ContextStrategy, Conversation, Function, Handler, Message, Next, Node,
};
use petalflow_conversations::{ConversationEvent, ConversationStateInput};
use petalflow_llm::{LlmError, Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::{builder, document, event_texts, message_texts, node, tool_names, transition, turn};

#[tokio::test]
async fn f047_f075_a_node_needs_no_functions() {
    let model = Arc::new(ScriptedModel::new(["Hello."]));
    let flow = builder(json!({ "a": node("Greet.", json!({ "functions": [] })) }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.answer(), "Hello.");
    assert!(tool_names(&model.requests()[0]).is_empty());
}

#[tokio::test]
async fn f050_the_order_on_entering_a_node() {
    let model = ScriptedModel::new(["Hello."]);
    let flow = builder(json!({ "a": node("Greet.", json!({
        "pre_actions": [{ "type": "tts_say", "text": "before" }],
        "post_actions": [{ "type": "tts_say", "text": "after" }],
    })) }));
    let flow = flow.model(model).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(
        event_texts(&events),
        ["say before", "at a", "Hello.", "say after"]
    );
}

/// From `a` to `b` with a strategy of `b`; returns what the model read at `b`.
async fn read_at_b(strategy: Value, default: ContextStrategy) -> Vec<String> {
    let model = Arc::new(ScriptedModel::new([
        "Hello.".into(),
        Reply::call("go", json!({})),
        "Done.".into(),
    ]));
    let mut nodes = json!({
        "a": node("Ask.", json!({ "functions": [transition("go", "b")] })),
        "b": node("Finish.", json!({})),
    });
    if !strategy.is_null() {
        nodes["b"]["context_strategy"] = strategy;
    }
    let flow = builder(nodes)
        .model(Arc::clone(&model))
        .context_strategy(default);
    let flow = flow.build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    turn(&flow, state.next_input("On.")).await;
    message_texts(&model.requests()[2])
}

const ALL: [&str; 6] = [
    "system: Ask.",
    "assistant: Hello.",
    "user: On.",
    "calls: go",
    "result: {\"status\":\"acknowledged\"}",
    "system: Finish.",
];

#[tokio::test]
async fn f051_the_first_node_begins_the_context() {
    let model = Arc::new(ScriptedModel::new(["Hello."]));
    let flow = builder(json!({ "a": node("Greet.", json!({ "context_strategy": "append" })) }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    // The person speaks first: what was said follows the task.
    turn(&flow, ConversationStateInput::user_message("Hi.")).await;
    assert_eq!(
        message_texts(&model.requests()[0]),
        ["system: Greet.", "user: Hi."]
    );
}

#[tokio::test]
async fn f052_append_keeps_and_reset_removes() {
    assert_eq!(
        read_at_b(json!("append"), ContextStrategy::Reset).await,
        ALL
    );
    assert_eq!(
        read_at_b(json!("reset"), ContextStrategy::Append).await,
        ["system: Finish."]
    );
}

#[tokio::test]
async fn f053_the_conversation_has_a_default() {
    assert_eq!(read_at_b(Value::Null, ContextStrategy::Append).await, ALL);
    assert_eq!(
        read_at_b(Value::Null, ContextStrategy::Reset).await,
        ["system: Finish."]
    );
}

#[tokio::test]
async fn messages_before_a_reset_stay_in_the_conversation() {
    let model = ScriptedModel::new([Reply::call("go", json!({})), "Done.".into()]);
    let flow = builder(json!({
        "a": node("Ask.", json!({ "functions": [transition("go", "b")] })),
        "b": node("Finish.", json!({ "context_strategy": "reset" })),
    }));
    let flow = flow.model(model).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.messages.len(), 5);
    assert_eq!(state.position.first_message, 3);
}

/// Two nodes; the second replaces what was said by a summary.
fn with_summary() -> Conversation {
    let mut document = document(json!({
        "a": node("Ask.", json!({ "functions": [transition("go", "b")] })),
        "b": node("Finish.", json!({ "functions": [transition("back", "b")] })),
    }));
    let b = document.nodes.get_mut("b").unwrap();
    b.role_messages = vec![Message::new("system", "You are brief.")];
    b.context_strategy = Some(ContextStrategy::ResetWithSummary {
        prompt: "Sum up.".into(),
    });
    document
}

#[tokio::test]
async fn f055_a_summary_is_between_the_role_and_the_task() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({})),
        "They met.".into(),
        "Done.".into(),
    ]));
    let flow = petalflow_conversations::ConversationFlow::builder(with_summary())
        .model(Arc::clone(&model));
    let flow = flow.build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let requests = model.requests();
    assert_eq!(message_texts(&requests[1]).last().unwrap(), "user: Sum up.");
    assert_eq!(
        message_texts(&requests[2]),
        [
            "system: You are brief.",
            "system: Here's a summary of the conversation:\nThey met.",
            "system: Finish.",
        ]
    );
}

#[tokio::test]
async fn f056_f057_without_a_summary_the_messages_are_kept_this_time() {
    let failed = LlmError::request("the server is down");
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({})),
        Err(failed).into(),
        Reply::call("back", json!({})),
        " ".into(),
        Reply::call("back", json!({})),
        "Short.".into(),
        "Done.".into(),
    ]));
    let flow = petalflow_conversations::ConversationFlow::builder(with_summary())
        .model(Arc::clone(&model));
    let flow = flow.build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    let reasons: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            ConversationEvent::NoSummary { node, reason } => Some((node.as_str(), reason.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        [
            ("b", "the server is down"),
            ("b", "the model's summary is empty")
        ]
    );
    let requests = model.requests();
    assert_eq!(
        message_texts(&requests[2])[0],
        "system: Ask.",
        "the messages are kept"
    );
    // Pipecat changes the strategy itself, so that no later entry has a summary.
    assert_eq!(
        message_texts(&requests[6])[1],
        "system: Here's a summary of the conversation:\nShort."
    );
}

#[tokio::test(start_paused = true)]
async fn f056_a_summary_has_five_seconds() {
    let model = ScriptedModel::from_fn({
        let calls = std::sync::atomic::AtomicUsize::new(0);
        move |_| match calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            0 => Reply::call("go", json!({})),
            _ => "Done.".into(),
        }
    });
    let slow = Slow(model);
    let flow = petalflow_conversations::ConversationFlow::builder(with_summary()).model(slow);
    let flow = flow.build().unwrap();
    let (state, events) = turn(&flow, ConversationStateInput::start()).await;
    assert!(events.contains(&ConversationEvent::NoSummary {
        node: "b".into(),
        reason: format!("the model gave none within {:?}", Duration::from_secs(5)),
    }));
    assert_eq!(state.answer(), "Done.");
}

/// Takes a minute for a summary.
struct Slow(ScriptedModel);

#[petalflow::async_trait]
impl petalflow_llm::LlmClient for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    async fn complete(
        &self,
        request: &petalflow_llm::LlmRequest,
    ) -> Result<petalflow_llm::LlmResponse, LlmError> {
        if request
            .messages
            .last()
            .is_some_and(|message| message.text() == "Sum up.")
        {
            tokio::time::sleep(Duration::from_mins(1)).await;
        }
        self.0.complete(request).await
    }
}

#[tokio::test]
async fn f058_a_role_holds_until_another_one() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("b", json!({})),
        Reply::call("c", json!({})),
        "Done.".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "role_message": "You are kind.", "functions": [transition("b", "b")] })),
        "b": node("B.", json!({ "context_strategy": "reset", "functions": [transition("c", "c")] })),
        "c": node("C.", json!({ "role_message": "You are strict." })),
    }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let requests = model.requests();
    let roles: Vec<_> = requests
        .iter()
        .map(|it| it.system.as_deref().unwrap_or_default())
        .collect();
    assert_eq!(roles, ["You are kind.", "You are kind.", "You are strict."]);
}

#[tokio::test]
async fn f059_role_messages_are_in_the_context_and_a_role_message_goes_before_them() {
    let mut document = document(json!({ "a": node("Ask.", json!({})) }));
    document.nodes["a"].role_messages = vec![Message::new("system", "Old.")];
    for (role, expected) in [
        (None, vec!["system: Old.", "system: Ask."]),
        (Some("New."), vec!["system: Ask."]),
    ] {
        document.nodes["a"].role_message = role.map(Into::into);
        let model = Arc::new(ScriptedModel::new(["Hello."]));
        let flow = petalflow_conversations::ConversationFlow::builder(document.clone());
        let flow = flow.model(Arc::clone(&model)).build().unwrap();
        turn(&flow, ConversationStateInput::start()).await;
        let request = &model.requests()[0];
        assert_eq!(message_texts(request), expected);
        assert_eq!(request.system.as_deref(), role);
    }
}

#[tokio::test]
async fn f060_a_node_can_wait_for_the_person() {
    let model = Arc::new(ScriptedModel::new(["Yes?"]));
    let flow = builder(json!({ "a": node("Listen.", json!({
        "respond_immediately": false,
        "pre_actions": [{ "type": "tts_say", "text": "before" }],
        "post_actions": [{ "type": "tts_say", "text": "after" }],
    })) }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    let (state, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["say before", "at a"]);
    assert!(model.requests().is_empty());
    let (state, events) = turn(&flow, state.next_input("Hello?")).await;
    assert_eq!(event_texts(&events), ["Yes?", "say after"]);
    // Actions run once for each entry.
    assert!(!state.position.actions_wait);
}

#[tokio::test]
async fn f061_entering_another_node_drops_the_actions_that_wait() {
    let model = ScriptedModel::new([Reply::call("go", json!({})), "Done.".into()]);
    let flow = builder(json!({
        "a": node("Ask.", json!({ "functions": [transition("go", "b")], "post_actions": [{ "type": "tts_say", "text": "never" }] })),
        "b": node("Finish.", json!({})),
    }));
    let flow = flow.model(model).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["at a", "at b", "Done."]);
}

#[tokio::test]
async fn f071_global_functions_come_first() {
    let model = Arc::new(ScriptedModel::new(["Hello."]));
    let mut document =
        document(json!({ "a": node("Ask.", json!({ "functions": [transition("own", "a")] })) }));
    document.global_functions = vec![Function {
        name: "help".into(),
        description: Some("Helps.".into()),
        parameters: None,
        handler: Handler::Nothing,
        next: Next::Stay,
    }];
    let flow = petalflow_conversations::ConversationFlow::builder(document);
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(tool_names(&model.requests()[0]), ["help", "own"]);
}

#[tokio::test]
async fn f073_all_nodes_share_the_values() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("set", json!({})),
        Reply::call("get", json!({})),
        "Done.".into(),
    ]));
    let set = FuncTool::with_context(
        "set",
        "Sets.",
        |_: Value, cx: petalflow::tool::ToolContext| async move {
            cx.set_state("color", "red");
            Ok(())
        },
    );
    let get = FuncTool::with_context(
        "get",
        "Gets.",
        |_: Value, cx: petalflow::tool::ToolContext| async move { Ok(cx.state("color")) },
    );
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [{ "name": "set", "transition_to": "b" }] })),
        "b": node("The color is {{ color }}.", json!({ "functions": [{ "name": "get" }] })),
    }));
    let flow = flow
        .model(Arc::clone(&model))
        .tool(set)
        .tool(get)
        .build()
        .unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some("b"));
    assert_eq!(state.values["color"], "red");
    let last = message_texts(&model.requests()[2]);
    assert!(
        last.contains(&"system: The color is red.".to_owned()),
        "{last:?}"
    );
    assert_eq!(last.last().unwrap(), "result: \"red\"");
}

#[tokio::test]
async fn f092_a_placeholder_without_a_value_is_an_error_that_names_it() {
    let flow = builder(json!({ "a": node("Hello {{ name }}.", json!({})) }));
    let flow = flow.model(ScriptedModel::new(["Hello."])).build().unwrap();
    let error = flow.run(()).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains(
            "node `a`: the placeholder `{{ name }}` cannot be filled: the state has no `name`"
        ),
        "{text}"
    );
    let state = flow
        .run(ConversationStateInput::start().with_value("name", "Ann"))
        .await
        .unwrap();
    assert_eq!(state.messages[0].text(), "Hello Ann.");
}

#[tokio::test]
async fn a_conversation_built_by_hand_is_checked() {
    let mut document = document(json!({ "a": node("Ask.", json!({})) }));
    document.initial_node = "b".into();
    document.nodes.insert(
        "c".into(),
        Node {
            functions: vec![Function {
                name: "go".into(),
                description: None,
                parameters: None,
                handler: Handler::Nothing,
                next: Next::Node("nowhere".into()),
            }],
            ..Node::default()
        },
    );
    let flow = petalflow_conversations::ConversationFlow::builder(document)
        .model(ScriptedModel::new(["a"]));
    assert_eq!(
        flow.build().unwrap_err().to_string(),
        "the document: the first node `b` does not exist\n\
         node `c`: function `go` leads to node `nowhere`, which does not exist"
    );
}

#[tokio::test]
async fn f048_f049_only_the_first_turn_begins_and_a_beginning_that_failed_is_tried_again() {
    let store = petalflow::checkpoint::InMemoryStore::new();
    let model = ScriptedModel::new(["Hello.", "Still here."]);
    let flow = builder(json!({ "a": node("A {{ name }}.", json!({})) }));
    let flow = flow.model(model).build().unwrap();
    let call = flow.store(&store);
    let call = call.thread("call");
    let error = call.run(()).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(text.contains("`name`"), "{text}");
    let input = ConversationStateInput::start().with_value("name", "Ann");
    let run = call.run(input).discard_pending();
    let state = run.await.unwrap().into_finished().unwrap();
    assert_eq!(state.answer(), "Hello.");
    assert_eq!(state.position.node.as_deref(), Some("a"));
    // A second beginning enters nothing: the model is asked again with what was said.
    let state = call.run(()).await.unwrap().into_finished().unwrap();
    let texts: Vec<String> = state
        .messages
        .iter()
        .map(petalflow_llm::ChatMessage::text)
        .collect();
    assert_eq!(texts, ["A Ann.", "Hello.", "Still here."]);
}

#[tokio::test]
async fn the_request_for_a_summary_has_calls_as_text() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({})),
        "They met.".into(),
        "Done.".into(),
    ]));
    let flow = petalflow_conversations::ConversationFlow::builder(with_summary())
        .model(Arc::clone(&model));
    let flow = flow.build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let request = &model.requests()[1];
    assert!(request.tools.is_empty());
    let calls = request.messages.iter();
    assert_eq!(
        calls
            .filter(|message| message.calls().next().is_some()
                || message.tool_results().next().is_some())
            .count(),
        0
    );
    let texts = message_texts(request);
    assert!(
        texts.contains(&"assistant: call of `go` with {}".to_string()),
        "{texts:?}"
    );
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("user: result of `go`: ")),
        "{texts:?}"
    );
}
