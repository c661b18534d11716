//! Results as the objects that providers insist on.

use petalflow::prelude::*;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{FuncTool, Tool, ToolContext, ToolSpec, invoke, normalize};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

fn add() -> FuncTool {
    FuncTool::new("add", "Adds.", |add: Add| async move {
        Ok(Sum { sum: add.a + add.b })
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => panic!("an object"),
    }
}

#[tokio::test]
async fn i022_name_description_and_schema_are_the_tools_and_arguments_reach_it() {
    let tool = add();
    let spec = tool.spec();
    assert_eq!((&*spec.name, &*spec.description), ("add", "Adds."));
    assert_eq!(spec.parameters["required"], json!(["a", "b"]));
    let arguments = object(json!({ "a": 1, "b": 2 }));
    let result = invoke(&tool, arguments, &ToolContext::new("1")).await;
    assert_eq!(Value::Object(result.unwrap()), json!({ "sum": 3 }));
}

#[test]
fn i023_objects_stay_null_is_empty_and_anything_else_is_named_result() {
    for (result, expected) in [
        (json!({ "a": { "b": null } }), json!({ "a": { "b": null } })),
        (json!(null), json!({})),
        (json!(3), json!({ "result": 3 })),
        (json!("text"), json!({ "result": "text" })),
        (json!(false), json!({ "result": false })),
        (json!([1, null]), json!({ "result": [1, null] })),
        (json!({}), json!({})),
    ] {
        assert_eq!(Value::Object(normalize(result)), expected);
    }
}

#[tokio::test]
async fn i024_a_tools_error_is_wrapped() {
    let broken = FuncTool::new("broken", "Fails.", |_: Value| async {
        Err::<(), _>("out of order".into())
    });
    let error = invoke(&broken, Map::new(), &ToolContext::new("1"))
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "tool call failed: out of order");
    // Its text is in the message, so it is not the source.
    assert!(std::error::Error::source(&error).is_none());
    assert_eq!(error.0.to_string(), "out of order");
}

#[tokio::test]
async fn i025_a_result_that_is_not_json_is_a_readable_error() {
    // Upstream puts the value itself into `{"result": ..}`, where Go's `any` can hold it. JSON cannot.
    let odd = FuncTool::new("odd", "Returns what JSON cannot hold.", |_: Value| async {
        Ok(std::collections::BTreeMap::from([((1, 2), 3)]))
    });
    let error = invoke(&odd, Map::new(), &ToolContext::new("1"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool call failed: the result of tool `odd` cannot be written as JSON: key must be a string"
    );
}

#[test]
fn i026_tools_are_used_through_pointers() {
    fn is_tool<T: Tool + ?Sized>() {}
    is_tool::<dyn Tool>();
    is_tool::<FuncTool>();
    is_tool::<std::sync::Arc<dyn Tool>>();
}

#[tokio::test]
async fn p031_a_tool_without_a_function_returns_an_empty_object() {
    let noop = FuncTool::noop(ToolSpec::new(
        "noop",
        "Does nothing.",
        json!({ "type": "object" }),
    ));
    for arguments in [json!({}), json!({ "a": 1 }), json!(null)] {
        assert_eq!(super::call(&noop, arguments).await, Ok(json!({})));
    }
}

#[tokio::test]
async fn a_closure_does_nothing_before_it_is_awaited() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let count = FuncTool::new("count", "Counts.", |_: Value| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        async { Ok(()) }
    });
    let cx = ToolContext::new("1");
    drop(count.call(json!({}), &cx));
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    count.call(json!({}), &cx).await.unwrap();
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);
}

#[test]
fn options_of_a_closure_are_part_of_its_spec() {
    let tool = add()
        .long_running()
        .deferred()
        .confirm_if(|_| Some("add?".into()));
    assert!(tool.spec().long_running && tool.spec().deferred);
    assert_eq!(tool.confirm(&json!({})).as_deref(), Some("add?"));
    // A clone that is changed leaves the other as it was.
    let plain = add();
    let _ = plain.clone().long_running();
    assert!(!plain.spec().long_running);
    let _ = tools![];
}
