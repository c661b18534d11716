//! `ToolNode`, rows P099 to P103.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::tool::{FuncTool, ToolRegistry, ToolSpec};
use petalflow::{BoxError, RunError};
use petalflow_documents::Envelope;
use petalflow_documents::kinds::{ToolConfig, ToolNode};
use petalflow_llm::nodes::NodeOutput;
use petalflow_llm_test_support::node_outputs;
use serde_json::{Value, json};
use tokio::time::Instant;

flow!(Act(Envelope) {
    act;
    node act: ToolNode;
});

async fn run(node: ToolNode, envelope: Envelope) -> Result<Envelope, RunError> {
    Act::new().act(node).run(envelope).await
}

fn failure(error: &RunError) -> String {
    match error.kind() {
        RunErrorKind::Node(error) => error.message.clone(),
        other => panic!("the node fails, not the run: {other:?}"),
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "For tests.", json!({ "type": "object" }))
}

/// Returns its arguments.
fn echo() -> FuncTool {
    FuncTool::untyped(
        spec("echo"),
        |arguments: Value, _| async move { Ok(arguments) },
    )
}

/// Fails the given number of times, then returns the number of calls.
fn flaky(failures: u32) -> (FuncTool, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let tool = FuncTool::untyped(spec("flaky"), move |_, _| {
        let call = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            if call <= failures {
                return Err(BoxError::from(format!("failure {call}")));
            }
            Ok(json!({ "calls": call }))
        }
    });
    (tool, calls)
}

#[tokio::test]
async fn p099_paths_override_constants() {
    let envelope = Envelope::new()
        .with_var("user", json!({ "name": "ann" }))
        .with_var("flat.name", "found");
    let node = ToolNode::new(echo())
        .arg("name", "nobody")
        .arg("kept", true)
        .arg_from("name", "user.name")
        .arg_from("flat", "flat.name");
    let envelope = run(node, envelope).await.expect("it runs");
    let expected = json!({ "name": "ann", "kept": true, "flat": "found" });
    assert_eq!(envelope.get_var("act_output"), Some(&expected));
}

#[tokio::test]
async fn p100_absent_values_are_omitted_unless_required() {
    let node = ToolNode::new(echo())
        .arg("a", 1)
        .arg_from("b", "no.where")
        .arg_from("a", "nothing");
    let envelope = run(node.clone(), Envelope::new()).await.expect("it runs");
    assert_eq!(envelope.get_var("act_output"), Some(&json!({ "a": 1 })));
    let error = run(node.required(["c", "b", "a", "b"]), Envelope::new())
        .await
        .expect_err("two are missing");
    assert_eq!(failure(&error), "missing required tool args: b, c");
}

#[tokio::test(start_paused = true)]
async fn p101_three_attempts_and_half_a_minute() {
    let (tool, calls) = flaky(2);
    let begun = Instant::now();
    let envelope = run(ToolNode::new(tool).output("x"), Envelope::new())
        .await
        .expect("at the third");
    assert_eq!(envelope.get_var("x"), Some(&json!({ "calls": 3 })));
    assert_eq!(
        (calls.load(Ordering::SeqCst), begun.elapsed().as_secs()),
        (3, 3)
    );
    let (tool, calls) = flaky(9);
    let error = run(ToolNode::new(tool), Envelope::new())
        .await
        .expect_err("it fails");
    assert!(
        failure(&error).starts_with("tool `flaky` failed after 3 attempts: failure 3"),
        "{error}"
    );
    assert_eq!(calls.load(Ordering::SeqCst), 3);

    let stuck = FuncTool::untyped(spec("stuck"), |_, _| std::future::pending());
    let begun = Instant::now();
    let error = run(ToolNode::new(stuck), Envelope::new())
        .await
        .expect_err("it hangs");
    assert_eq!(begun.elapsed(), Duration::from_secs(30));
    assert!(
        failure(&error).contains("tool `stuck` timed out after 30s"),
        "{error}"
    );
}

#[tokio::test]
async fn wrong_arguments_are_not_retried() {
    /// Doubles.
    #[tool]
    fn double(
        /// What.
        n: i64,
    ) -> i64 {
        2 * n
    }
    let node = ToolNode::new(double {}).arg("n", "four");
    let error = run(node, Envelope::new()).await.expect_err("it is a text");
    assert!(
        failure(&error).contains("after 1 attempt:") && failure(&error).contains("`n`"),
        "{error}"
    );
}

#[tokio::test]
async fn p102_a_tool_is_found_by_name_when_the_node_runs() {
    let registry = ToolRegistry::new();
    let node = ToolNode::named("echo").arg("a", 1);
    let own = node.clone().registry(registry.clone());
    let error = run(own.clone(), Envelope::new())
        .await
        .expect_err("it is not there yet");
    assert!(
        failure(&error).contains("tool not found: there is no `echo`"),
        "{error}"
    );
    registry.register(echo());
    let envelope = run(own, Envelope::new()).await.expect("it is found");
    assert_eq!(envelope.get_var("act_output"), Some(&json!({ "a": 1 })));

    let launch = Act::new().act(node.clone()).manage(registry);
    launch
        .run(Envelope::new())
        .await
        .expect("the run's is found");
    let launch = Act::new()
        .act(node.clone())
        .manage(petalflow::tool::ToolSet::new().with(echo()));
    launch.run(Envelope::new()).await.expect("a set will do");
    let error = run(node, Envelope::new()).await.expect_err("there is none");
    assert!(failure(&error).contains("has no registry"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn p103_a_call_and_a_result_whatever_the_retries() {
    let (tool, _) = flaky(2);
    let heard = node_outputs(
        Act::new()
            .act(ToolNode::new(tool).arg("a", 1))
            .run(Envelope::new()),
    )
    .await;
    let [
        NodeOutput::Call {
            tool_name,
            arguments,
            id,
        },
        NodeOutput::Result {
            is_error,
            result,
            id: of,
            ..
        },
    ] = &heard[..]
    else {
        panic!("one call, one result: {heard:?}");
    };
    assert_eq!(
        (tool_name.as_str(), arguments),
        ("flaky", &json!({ "a": 1 }))
    );
    assert_eq!((is_error, result, of), (&false, &json!({ "calls": 3 }), id));

    let (tool, _) = flaky(9);
    let heard = node_outputs(Act::new().act(ToolNode::new(tool)).run(Envelope::new())).await;
    assert!(
        matches!(
            &heard[..],
            [
                NodeOutput::Call { .. },
                NodeOutput::Result { is_error: true, .. }
            ]
        ),
        "{heard:?}"
    );
}

#[tokio::test]
async fn p099_the_settings_of_a_document_name_the_tool_and_its_arguments() {
    let config: ToolConfig = serde_json::from_value(json!({
        "tool_name": "echo",
        "static_args": { "a": 1, "b": 2 },
        "args_template": { "b": "user.name" },
        "required_args": ["a"],
        "output_key": "x",
        "timeout": "5s",
    }))
    .expect("they are settings");
    let registry = ToolRegistry::new();
    registry.register(echo());
    let node = ToolNode::from_config(config).registry(registry);
    let envelope = Envelope::new().with_var("user", json!({ "name": "ann" }));
    let envelope = run(node, envelope).await.expect("it runs");
    assert_eq!(envelope.get_var("x"), Some(&json!({ "a": 1, "b": "ann" })));
    let unknown = serde_json::from_value::<ToolConfig>(json!({ "tool_name": "echo", "args": {} }));
    assert!(unknown.expect_err("no field").to_string().contains("args"));
}
