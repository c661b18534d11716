//! Functions, their results, and where they lead.

use std::sync::Arc;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::tool::{FuncTool, ToolContext, schema};
use petalflow_conversations::document::decision::Operator;
use petalflow_conversations::document::{Condition, Decision, Next, Parameters};
use petalflow_conversations::{
    ConversationBuilder, ConversationEvent, ConversationFlow, ConversationStateInput, Interruption,
    go_to, no_response,
};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::{builder, document, event_texts, message_texts, node, tool_names, transition, turn};

/// A function that returns a value.
fn returns(name: &'static str, value: Value) -> FuncTool {
    FuncTool::new(name, "Returns.", move |_: Value| {
        let value = value.clone();
        async move { Ok(value) }
    })
}

/// A function of node `a` without a target, and the model's requests after it returned.
async fn run_function(tool: FuncTool, function: Value) -> (String, Option<String>, Vec<String>) {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("f", json!({})),
        "Done.".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [function] })),
        "b": node("B.", json!({})),
        "c": node("C.", json!({})),
    }));
    let flow = flow.model(Arc::clone(&model)).tool(tool).build().unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    let last = message_texts(&model.requests()[1]);
    let result = last.iter().find(|it| it.starts_with("result")).cloned();
    (result.unwrap_or_default(), state.position.node, last)
}

#[tokio::test]
async fn f063_without_a_node_the_model_answers_the_result() {
    let (result, node, last) =
        run_function(returns("f", json!({ "n": 1 })), json!({ "name": "f" })).await;
    assert_eq!(result, "result: {\"n\":1}");
    assert_eq!(node.as_deref(), Some("a"));
    assert_eq!(
        last.last().unwrap(),
        &result,
        "the model reads the result at the same node"
    );
}

#[tokio::test]
async fn f064_a_transition_comes_after_all_calls() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({})).and_call("slow", json!({})),
        "Done.".into(),
    ]));
    let slow = FuncTool::new("slow", "Takes time.", |_: Value| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok("slow result")
    });
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [transition("go", "b"), { "name": "slow" }] })),
        "b": node("B.", json!({})),
    }));
    let flow = flow.model(Arc::clone(&model)).tool(slow).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    let requests = model.requests();
    assert_eq!(
        requests.len(),
        2,
        "the model does not answer before the transition"
    );
    let last = message_texts(&requests[1]);
    assert_eq!(
        last[2],
        "result: {\"status\":\"acknowledged\"} result: \"slow result\""
    );
    assert_eq!(last[3], "system: B.");
    let position =
        |wanted: &dyn Fn(&ConversationEvent) -> bool| events.iter().position(wanted).unwrap();
    let returned = position(
        &|it| matches!(it, ConversationEvent::Returned { function, .. } if function == "slow"),
    );
    let entered = position(&|it| matches!(it, ConversationEvent::Entered { node } if node == "b"));
    assert!(returned < entered);
}

#[tokio::test(start_paused = true)]
async fn f065_of_several_transitions_the_last_call_decides() {
    // The first call finishes last. In Pipecat it would decide.
    let model = ScriptedModel::new([
        Reply::call("first", json!({})).and_call("second", json!({})),
        "Done.".into(),
    ]);
    let wait = |name: &'static str, time: u64| {
        FuncTool::new(name, "Waits.", move |_: Value| async move {
            tokio::time::sleep(Duration::from_millis(time)).await;
            Ok(())
        })
    };
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [
            { "name": "first", "transition_to": "b" }, { "name": "second", "transition_to": "c" }] })),
        "b": node("B.", json!({})),
        "c": node("C.", json!({})),
    }));
    let flow = flow
        .model(model)
        .tool(wait("first", 50))
        .tool(wait("second", 1))
        .build()
        .unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some("c"));
}

#[tokio::test]
async fn f066_no_result_is_acknowledged() {
    let (result, ..) = run_function(returns("f", Value::Null), json!({ "name": "f" })).await;
    assert_eq!(result, "result: {\"status\":\"acknowledged\"}");
}

#[tokio::test]
async fn f067_an_error_is_read_by_the_model_and_leads_nowhere() {
    let fails = FuncTool::new("f", "Fails.", |_: Value| async {
        Err::<(), _>(petalflow::BoxError::from("no table is free"))
    });
    let (result, node, _) = run_function(fails, json!({ "name": "f", "transition_to": "b" })).await;
    let result: Value = serde_json::from_str(result.strip_prefix("result: ").unwrap()).unwrap();
    assert_eq!(result["status"], "error");
    assert!(
        result["error"]
            .as_str()
            .unwrap()
            .contains("no table is free")
    );
    assert_eq!(node.as_deref(), Some("a"));
}

#[tokio::test]
async fn f067_a_panic_is_read_by_the_model() {
    async fn panics() -> petalflow::Result<Value> {
        panic!("out of paper")
    }
    let panics = FuncTool::new("f", "Panics.", |_: Value| panics());
    let (result, node, _) =
        run_function(panics, json!({ "name": "f", "transition_to": "b" })).await;
    assert!(result.contains("out of paper"), "{result}");
    assert_eq!(node.as_deref(), Some("a"));
}

#[tokio::test]
async fn a_function_that_is_not_offered_is_an_error_for_the_model() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("fly", json!({})),
        "Done.".into(),
    ]));
    let flow = builder(json!({ "a": node("A.", json!({ "functions": [transition("go", "a")] })) }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let last = message_texts(&model.requests()[1]);
    assert!(
        last[2].contains("there is no function `fly` here; the functions are: go"),
        "{last:?}"
    );
}

#[tokio::test]
async fn f062_f068_f069_an_annotated_function_is_a_handler() {
    /// Records the age.
    #[tool]
    fn set_age(
        /// In years.
        age: u32,
        cx: ToolContext,
    ) -> String {
        cx.set_state("age", age);
        go_to(&cx, if age < 18 { "b" } else { "c" });
        format!("{age} years")
    }
    /// Says nothing.
    #[tool]
    fn nothing() {}

    let model = Arc::new(ScriptedModel::new([
        Reply::call("set_age", json!({ "age": 7 })),
        "Done.".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [{ "name": "set_age" }, { "name": "nothing" }] })),
        "b": node("B.", json!({})),
        "c": node("C.", json!({})),
    }));
    let flow = flow
        .model(Arc::clone(&model))
        .tool(set_age {})
        .tool(nothing {})
        .build()
        .unwrap();
    let (state, _) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(state.position.node.as_deref(), Some("b"));
    let spec = &model.requests()[0].tools[0];
    assert_eq!(spec.description, "Records the age.");
    assert_eq!(
        spec.parameters["properties"]["age"]["description"],
        "In years."
    );
    assert_eq!(spec.parameters["required"], json!(["age"]));
}

#[tokio::test]
async fn a_function_can_end_the_turn_without_an_answer() {
    let wait = FuncTool::with_context("wait", "Waits.", |_: Value, cx: ToolContext| async move {
        no_response(&cx);
        Ok("waiting")
    });
    let model = Arc::new(ScriptedModel::new([
        Reply::call("wait", json!({})),
        "Here I am.".into(),
    ]));
    let flow = builder(json!({ "a": node("A.", json!({ "functions": [{ "name": "wait" }] })) }));
    let flow = flow.model(Arc::clone(&model)).tool(wait).build().unwrap();
    let store = petalflow::checkpoint::InMemoryStore::new();
    let thread = flow.launch().store(&store).thread("t");
    let first = thread.run(ConversationStateInput::start()).await.unwrap();
    assert_eq!(first.into_finished().unwrap().answer(), "");
    assert_eq!(model.requests().len(), 1);
    // The model reads the result in the next turn.
    let second = thread
        .run(ConversationStateInput::user_message("Hello?"))
        .await
        .unwrap();
    assert_eq!(second.into_finished().unwrap().answer(), "Here I am.");
    let last = message_texts(&model.requests()[1]);
    assert!(last.iter().any(|text| text.contains("waiting")), "{last:?}");
}

#[tokio::test]
async fn code_that_asks_for_an_unknown_node_is_an_error_for_the_model() {
    let lost = FuncTool::with_context("f", "Gets lost.", |_: Value, cx: ToolContext| async move {
        go_to(&cx, "nowhere");
        Ok(())
    });
    let (result, node, _) = run_function(lost, json!({ "name": "f" })).await;
    assert!(
        result.contains("the code asks for node `nowhere`, which does not exist"),
        "{result}"
    );
    assert_eq!(node.as_deref(), Some("a"));
}

#[tokio::test]
async fn f072_a_later_node_has_its_own_handler_of_the_name() {
    let mut document = document(json!({
        "a": node("A.", json!({ "functions": [{ "name": "f", "transition_to": "b" }] })),
        "b": node("B.", json!({ "functions": [{ "name": "f" }] })),
    }));
    let f = &mut document.nodes["b"].functions[0];
    f.handler = petalflow_conversations::document::Handler::Named("other".into());
    let model = Arc::new(ScriptedModel::new([
        Reply::call("f", json!({})),
        Reply::call("f", json!({})),
        "Done.".into(),
    ]));
    let flow = ConversationFlow::builder(document).model(Arc::clone(&model));
    let flow = flow
        .tool(returns("f", json!(1)))
        .tool(returns("other", json!(2)))
        .build()
        .unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let last = message_texts(&model.requests()[2]);
    assert_eq!(last[2], "result: 1");
    assert_eq!(last.last().unwrap(), "result: 2");
}

#[tokio::test]
async fn f088_a_field_of_the_result_chooses_the_node() {
    let branch = json!({ "name": "f", "transition_to":
        { "field": "free", "cases": { "True": "b", "maybe": "c" }, "default": "a" } });
    for (value, expected) in [
        (json!(true), "b"),
        (json!("TRUE"), "b"),
        (json!("maybe"), "c"),
        (json!("?"), "a"),
    ] {
        let (_, node, _) =
            run_function(returns("f", json!({ "free": value })), branch.clone()).await;
        assert_eq!(node.as_deref(), Some(expected), "{value}");
    }
}

#[tokio::test]
async fn f089_without_a_case_the_conversation_stays_in_its_node_and_without_the_field_the_model_reads_an_error()
 {
    let branch =
        json!({ "name": "f", "transition_to": { "field": "status", "cases": { "free": "b" } } });
    let (result, node, _) =
        run_function(returns("f", json!({ "status": "other" })), branch.clone()).await;
    assert_eq!(result, "result: {\"status\":\"other\"}");
    assert_eq!(node.as_deref(), Some("a"));
    for value in [json!({ "state": "free" }), json!("free"), Value::Null] {
        let (result, node, _) = run_function(returns("f", value), branch.clone()).await;
        assert!(
            result.contains("the result has no field `status`"),
            "{result}"
        );
        assert_eq!(node.as_deref(), Some("a"));
    }
    let (result, ..) = run_function(returns("f", json!({ "status": [1] })), branch).await;
    assert!(result.contains("is a list or an object"), "{result}");
}

#[tokio::test]
async fn f029_f033_a_decision_chooses_the_node() {
    let mut document = document(json!({
        "a": node("A.", json!({ "functions": [{ "name": "f" }] })),
        "b": node("B.", json!({})),
    }));
    document.nodes["a"].functions[0].next = Next::Decision(Decision {
        action: "result = args['age']".into(),
        conditions: vec![Condition {
            operator: Operator::Less,
            value: "18".into(),
            node: "b".into(),
        }],
        default: "a".into(),
    });
    for (value, node, error) in [
        (json!(7), "b", false),
        (json!(40), "a", false),
        (json!("7"), "a", true),
    ] {
        let model = Arc::new(ScriptedModel::new([
            Reply::call("f", json!({})),
            "Done.".into(),
        ]));
        let flow = ConversationFlow::builder(document.clone()).model(Arc::clone(&model));
        let flow = flow.tool(returns("f", value.clone())).build().unwrap();
        let (state, _) = turn(&flow, ConversationStateInput::start()).await;
        assert_eq!(state.position.node.as_deref(), Some(node), "{value}");
        let last = message_texts(&model.requests()[1]).join("\n");
        assert_eq!(last.contains("`str < int` has no answer"), error, "{last}");
    }
}

#[tokio::test]
async fn f090_a_function_without_code_takes_no_arguments_and_is_acknowledged() {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("go", json!({ "made": "up" })),
        "Done.".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [transition("go", "b")] })),
        "b": node("B.", json!({})),
    }));
    let flow = flow.model(Arc::clone(&model)).build().unwrap();
    let (_, events) = turn(&flow, ConversationStateInput::start()).await;
    assert_eq!(event_texts(&events), ["at a", "at b", "Done."]);
    let requests = model.requests();
    assert_eq!(requests[0].tools[0].parameters["properties"], json!({}));
    assert_eq!(tool_names(&requests[0]), ["go"]);
    assert_eq!(
        message_texts(&requests[1])[2],
        "result: {\"status\":\"acknowledged\"}"
    );
}

#[tokio::test]
async fn a_model_that_calls_functions_for_ever_is_stopped() {
    let model = ScriptedModel::from_fn(|_| Reply::call("go", json!({})));
    let flow = builder(json!({ "a": node("A.", json!({ "functions": [transition("go", "a")] })) }));
    let flow = flow.model(model).max_model_calls(5).build().unwrap();
    let error = flow.run(()).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(
        text.contains("the model was called 5 times in one turn"),
        "{text}"
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_to_the_model_and_the_handler_is_not_called() {
    let mut document =
        document(json!({ "a": node("A.", json!({ "functions": [{ "name": "f" }] })) }));
    let size = json!({ "type": "string", "enum": ["small", "large"] });
    let count = json!({ "type": "integer", "minimum": 1 });
    document.nodes["a"].functions[0].parameters = Some(Parameters {
        properties: serde_json::from_value(json!({ "count": count, "size": size })).unwrap(),
        required: vec!["size".into()],
    });
    let model = Arc::new(ScriptedModel::new([
        Reply::call("f", json!({ "size": "huge", "count": 0 })),
        Reply::call("f", json!({ "size": "large", "count": 2.0 })),
        "Done.".into(),
    ]));
    let calls = Arc::new(std::sync::Mutex::new(Vec::new()));
    let called = Arc::clone(&calls);
    let tool = FuncTool::new("f", "F.", move |arguments: Value| {
        called.lock().unwrap().push(arguments);
        async { Ok("noted") }
    });
    let flow = ConversationFlow::builder(document).model(Arc::clone(&model));
    turn(
        &flow.tool(tool).build().unwrap(),
        ConversationStateInput::start(),
    )
    .await;
    let last = message_texts(&model.requests()[2]);
    let result = last[2].strip_prefix("result: ").expect("a result");
    let result: Value = serde_json::from_str(result).expect("JSON");
    let error = "the arguments do not fit: `count` is 0, and must be at least 1; `size` is \"huge\", and must be one of \
                 \"small\", \"large\"; call it again with arguments that fit its schema";
    assert_eq!(result, json!({ "status": "error", "error": error }));
    assert_eq!(
        *calls.lock().unwrap(),
        [json!({ "size": "large", "count": 2.0 })]
    );
}

/// A function that takes two seconds.
fn slow() -> FuncTool {
    FuncTool::new("f", "Takes time.", |_: Value| async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok("done")
    })
}

/// The result of the slow function when the person interrupts after a second, and the node after it.
async fn run_interrupted(
    set: impl FnOnce(ConversationBuilder) -> ConversationBuilder,
) -> (String, Option<String>) {
    let model = Arc::new(ScriptedModel::new([
        Reply::call("f", json!({})),
        "Done.".into(),
    ]));
    let flow = builder(json!({
        "a": node("A.", json!({ "functions": [{ "name": "f", "transition_to": "b" }] })),
        "b": node("B.", json!({})),
    }));
    let flow = set(flow.model(Arc::clone(&model)).tool(slow()))
        .build()
        .unwrap();
    let interruption = Interruption::new();
    let turn = flow.launch().manage(interruption.clone()).run(());
    let interrupt = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        interruption.interrupt();
    };
    let (state, ()) = tokio::join!(turn, interrupt);
    let result = message_texts(&model.requests()[1])[2].clone();
    (result, state.unwrap().position.node)
}

#[tokio::test(start_paused = true)]
async fn f070_a_function_continues_when_the_person_interrupts_by_default() {
    let (result, node) = run_interrupted(|flow| flow).await;
    assert_eq!(
        (result.as_str(), node.as_deref()),
        ("result: \"done\"", Some("b"))
    );
    let (result, node) = run_interrupted(|flow| flow.cancel_on_interruption("f")).await;
    assert!(
        result.contains("function `f` was cancelled: the person has interrupted"),
        "{result}"
    );
    assert_eq!(node.as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn f070_a_function_has_no_timeout_unless_one_is_set() {
    let (result, node) =
        run_interrupted(|flow| flow.timeout("f", Duration::from_millis(500))).await;
    assert!(
        result.contains("function `f` has not returned within 500ms"),
        "{result}"
    );
    assert_eq!(node.as_deref(), Some("a"));
}

#[tokio::test]
async fn f037_f045_a_function_of_two_nodes_has_one_handler_and_the_parameters_of_each_node() {
    let mut document = document(json!({
        "a": node("A.", json!({ "functions": [{ "name": "f", "transition_to": "b" }] })),
        "b": node("B.", json!({ "functions": [{ "name": "f" }] })),
    }));
    for (name, schema) in [
        ("a", json!({ "n": { "maximum": 1 } })),
        ("b", json!({ "n": { "minimum": 2 } })),
    ] {
        document.nodes[name].functions[0].parameters = Some(Parameters {
            properties: serde_json::from_value(schema).unwrap(),
            required: Vec::new(),
        });
    }
    let model = Arc::new(ScriptedModel::new([
        Reply::call("f", json!({ "n": 1 })),
        Reply::call("f", json!({ "n": 1 })),
        Reply::call("f", json!({ "n": 2 })),
        "Done.".into(),
    ]));
    // The handler has the name of the function; in the editor's Python it is `handle_f`.
    let flow = ConversationFlow::builder(document).model(Arc::clone(&model));
    let flow = flow.tool(returns("f", json!("ok"))).build().unwrap();
    turn(&flow, ConversationStateInput::start()).await;
    let last = message_texts(&model.requests()[3]);
    let results: Vec<_> = last.iter().filter(|it| it.starts_with("result")).collect();
    assert_eq!(results[0], "result: \"ok\"");
    assert!(
        results[1].contains("`n` is 1, and must be at least 2"),
        "{results:?}"
    );
    assert_eq!(results[2], "result: \"ok\"");
}

/// The arguments as a function gets them, or what the model reads.
fn checked(properties: Value, arguments: Value) -> Result<Value, String> {
    let parameters = Parameters {
        properties: serde_json::from_value(properties).unwrap(),
        required: Vec::new(),
    };
    schema::check_arguments(&parameters.schema(), arguments).map_err(|it| it.to_string())
}

#[test]
fn f038_an_argument_that_is_missing_is_left_out() {
    // The Python that the editor generates replaces it by 0, False or "".
    let properties = json!({ "n": { "type": "integer" }, "b": { "type": "boolean" }, "s": { "type": "string" } });
    for arguments in [json!({}), json!({ "n": null, "b": null, "s": null })] {
        assert_eq!(checked(properties.clone(), arguments), Ok(json!({})));
    }
}

#[test]
fn f039_lists_and_objects_are_not_texts() {
    // The Python that the editor generates declares both as `str`.
    let fits = |kind: &str, value: Value| {
        checked(json!({ "a": { "type": kind } }), json!({ "a": value })).is_ok()
    };
    assert!(fits("array", json!([1])) && !fits("array", json!("[1]")));
    assert!(fits("object", json!({ "a": 1 })) && !fits("object", json!("{}")));
    assert!(fits("number", json!(1)) && !fits("integer", json!(1.5)));
}
