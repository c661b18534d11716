//! Arguments that are wrong in every way.

use petalflow::prelude::*;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow::tool::{FuncTool, Tool, ToolContext, ToolError};
use petalflow_test_support::assert_contains;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(dead_code, reason = "read from JSON only")]
enum Shape {
    Circle { radius: f64 },
    Polygon { points: Vec<(f64, f64)> },
    Group(Box<Group>),
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read from JSON only")]
struct Group {
    name: Option<String>,
    members: Vec<Shape>,
}

/// Draws.
#[tool]
fn draw(
    shapes: Vec<Shape>,
    group: Option<Group>,
    size: [u8; 2],
    #[serde(default)] scale: u8,
) -> usize {
    drop(group);
    shapes.len() + usize::from(size[0]) + usize::from(scale)
}

async fn message(arguments: Value) -> String {
    call(&draw {}, arguments).await.unwrap_err()
}

#[tokio::test]
async fn a_message_names_the_path_and_the_solution() {
    for (arguments, expected) in [
        (
            json!({ "shapes": [{ "kind": "circle", "radius": 1.0 }], "size": [1, "two"] }),
            "the arguments of tool `draw` do not fit at `size[1]`: invalid type: string \"two\", expected u8; call it again with arguments that fit its schema",
        ),
        (
            json!({ "size": [1, 2] }),
            "the arguments of tool `draw` do not fit: missing field `shapes`; call it again with arguments that fit its schema",
        ),
        (
            json!({ "shapes": [], "size": [1, 2], "colour": "red" }),
            "the arguments of tool `draw` do not fit at `colour`: unknown field `colour`, expected one of `shapes`, `group`, `size`, `scale`; call it again with arguments that fit its schema",
        ),
        (
            json!({ "shapes": [], "size": [1, 2], "group": { "members": [], "name": 3 } }),
            "the arguments of tool `draw` do not fit at `group.name`: invalid type: integer `3`, expected a string; call it again with arguments that fit its schema",
        ),
        (
            json!([1, 2]),
            "the arguments of tool `draw` are a list; call it again with a JSON object that fits its schema",
        ),
        (
            json!("{\"shapes\": ["),
            "the arguments of tool `draw` are text that is not JSON (EOF while parsing a list at line 1 column 12); call it again with a JSON object that fits its schema",
        ),
    ] {
        assert_eq!(message(arguments).await, expected);
    }
    // Inside a tagged enum serde cannot say where, but still what.
    let inside = json!({ "shapes": [{ "kind": "square" }], "size": [1, 2] });
    let inside = message(inside).await;
    assert_contains(&inside, "`shapes[0]");
    assert_contains(&inside, "unknown variant `square`, expected one of");
}

#[tokio::test]
async fn absent_arguments_are_an_empty_object_and_an_object_may_be_a_string() {
    let echo = FuncTool::new("echo", "Repeats.", |arguments: Map<String, Value>| async {
        Ok(arguments)
    });
    for none in [json!(null), json!(""), json!("  "), json!({}), json!("{}")] {
        assert_eq!(call(&echo, none).await, Ok(json!({})));
    }
    assert_eq!(
        call(&echo, json!("{\"a\": 1}")).await,
        Ok(json!({ "a": 1 }))
    );
}

#[tokio::test]
async fn null_means_absent() {
    let least = json!({ "shapes": [], "size": [1, 2], "scale": null, "group": null });
    assert_eq!(call(&draw {}, least).await, Ok(json!(1)));
    let inside = json!({ "shapes": [], "size": [1, 2], "group": { "name": null, "members": [] } });
    assert_eq!(call(&draw {}, inside).await, Ok(json!(1)));
    // What is required is not.
    let message = message(json!({ "shapes": null, "size": [1, 2] })).await;
    assert_contains(&message, "at `shapes`: invalid type: null");

    // A value that accepts any type may be `null`.
    let keep = FuncTool::new("keep", "Keeps.", |arguments: Map<String, Value>| async {
        Ok(arguments)
    });
    assert_eq!(
        call(&keep, json!({ "a": null })).await,
        Ok(json!({ "a": null }))
    );
}

#[tokio::test]
async fn large_arguments_have_short_error_messages() {
    let long = "ä".repeat(4_000_000);
    let answer = message(json!({ "shapes": long, "size": [1, 2] })).await;
    assert!(
        answer.len() < 1000 && answer.contains("at `shapes`"),
        "{}",
        answer.len()
    );
    let answer = message(json!({ "shapes": [], "size": [1, 2], (long.clone()): 1 })).await;
    assert!(answer.len() < 2000, "{}", answer.len());
    let shapes = vec![json!({ "kind": "circle", "radius": 1.0 }); 100_000];
    let many = json!({ "shapes": shapes, "size": [0, 0] });
    assert_eq!(call(&draw {}, many).await, Ok(json!(100_000)));
}

#[tokio::test]
async fn deeply_nested_arguments_are_read_up_to_the_limit_of_json() {
    let mut group = json!({ "members": [] });
    for _ in 0..30 {
        group = json!({ "members": [{ "kind": "group", "members": [group["members"].take()] }] });
    }
    // Wrong, and deep; what matters is that there is an answer.
    let deep = json!({ "shapes": [], "size": [1, 2], "group": group });
    assert!(call(&draw {}, deep).await.is_err());
    // Text that goes deeper than JSON's reader does.
    let text = format!(
        "{{\"shapes\": {}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let answer = message(Value::String(text)).await;
    assert_contains(&answer, "recursion limit exceeded");
}

/// Any JSON, sometimes with names and values that the tool expects.
fn anything() -> impl Strategy<Value = Value> {
    let names = || {
        prop::sample::select(vec![
            "shapes", "group", "size", "scale", "kind", "members", "points", "radius", "x",
        ])
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["circle", "polygon", "group"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(names().prop_map(String::from), inner, 0..6)
                .prop_map(|object| Value::Object(object.into_iter().collect())),
        ]
    })
}

/// The path that a message names, and whether there is something, or something missing, at its place.
fn named(message: &str, arguments: &Value) -> bool {
    let Some((_, rest)) = message.split_once(" do not fit") else {
        return message.contains("call it again with a JSON object");
    };
    if rest.starts_with(": ") {
        return true;
    }
    let path = rest
        .strip_prefix(" at `")
        .and_then(|rest| rest.split_once('`'));
    let Some((path, _)) = path else { return false };
    let first = path.split(['.', '[']).next().unwrap_or_default();
    arguments.get(first).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_give_a_result_or_a_message(arguments in anything()) {
        let cx = ToolContext::new("1");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _ = draw {}.confirm(&arguments);
        let object = match &arguments {
            Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
            arguments => arguments.clone(),
        };
        match runtime.block_on(draw {}.call(arguments, &cx)) {
            Ok(result) => prop_assert!(result.is_u64()),
            Err(ToolError::Arguments(message)) => prop_assert!(named(&message, &object), "{message}"),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn an_untyped_tool_gets_any_object(arguments in anything()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let echo = FuncTool::new("echo", "Repeats.", |arguments: Map<String, Value>| async { Ok(arguments) });
        let result = runtime.block_on(echo.call(arguments.clone(), &ToolContext::new("1")));
        if arguments.is_object() {
            prop_assert_eq!(result.unwrap(), arguments);
        }
    }
}

/// Draws so many cards of so many each.
#[tool]
fn deal(counts: Vec<u32>, share: f64, rest: Value) -> Value {
    json!({"counts": counts, "share": share, "rest": rest})
}

/// To JSON Schema `3.0` is an integer, and some models write all numbers so.
#[tokio::test]
async fn integers_may_be_written_with_a_point() {
    let cx = ToolContext::new("1");
    let arguments = json!({"counts": [3.0, 2], "share": 1.0, "rest": 4});
    let dealt = deal {}.call(arguments, &cx).await.unwrap();
    assert_eq!(dealt, json!({"counts": [3, 2], "share": 1.0, "rest": 4}));
    // What fits as it is stays as it is.
    let arguments = json!({"counts": [3], "share": 0.5, "rest": {"x": 4.0}});
    let dealt = deal {}.call(arguments, &cx).await.unwrap();
    assert_eq!(dealt["rest"].to_string(), r#"{"x":4.0}"#);
    for wrong in [json!(3.5), json!(-1.0), json!(1e300), json!("3")] {
        let arguments = json!({"counts": [wrong], "share": 1, "rest": 0});
        let error = deal {}.call(arguments, &cx).await.unwrap_err();
        assert_contains(&error, "at `counts[0]`");
    }
}

/// Rates a flower.
#[tool]
fn rate(
    #[schemars(length(min = 3), regex(pattern = "^[a-z]+$"))] name: String,
    #[schemars(range(max = 1.0))] sure: f64,
    #[schemars(length(max = 2))] tags: Option<Vec<String>>,
) -> f64 {
    let _ = (name, tags);
    sure
}

#[tokio::test]
async fn limits_of_the_schema_hold() {
    let rated = call(&rate {}, json!({ "name": "rose", "sure": 1 })).await;
    assert_eq!(rated.unwrap(), json!(1.0));
    let error = call(
        &rate {},
        json!({ "name": "R2", "sure": 7.5, "tags": ["a", "b", "c"] }),
    )
    .await;
    assert_eq!(
        error.unwrap_err(),
        "the arguments of tool `rate` do not fit: `name` is \"R2\", and must have at least 3 characters, not 2; `name` is \
         \"R2\", and must match `^[a-z]+$`; `sure` is 7.5, and must be at most 1.0; `tags` must have at most 2 items, not 3; \
         call it again with arguments that fit its schema"
    );
}

#[tokio::test]
async fn all_mistakes_are_told_at_once() {
    let error = call(&rate {}, json!({ "sure": "very", "colour": "red" })).await;
    assert_eq!(
        error.unwrap_err(),
        "the arguments of tool `rate` do not fit: `colour` is not in the schema; `sure` is \"very\", and must be a number; \
         `name` is missing; call it again with arguments that fit its schema"
    );
}
