//! `GateNode`, rows P127 to P130.

use petalflow_documents::kinds::{GateConfig, GateNode};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

fn gate(config: Value) -> GateNode {
    GateNode::new(settings(config)).expect("they are settings")
}

#[tokio::test]
async fn p127_a_function_or_a_variable_opens_the_gate() {
    let by_var = gate(json!({ "condition_var": "open" }));
    assert!(
        run(by_var.clone(), vars(json!({ "open": true })))
            .await
            .is_ok()
    );
    assert!(
        run(by_var.clone(), vars(json!({ "open": false })))
            .await
            .is_err()
    );
    assert!(run(by_var.clone(), vars(json!({}))).await.is_err());
    assert!(run(gate(json!({})), vars(json!({}))).await.is_ok());
    let by_function = by_var.clone().condition(|_| Ok(true));
    assert!(
        run(by_function, vars(json!({ "open": false })))
            .await
            .is_ok()
    );
    let failing = by_var.condition(|_| Err("no idea".into()));
    let error = run(failing, vars(json!({ "open": true }))).await;
    assert_eq!(error.expect_err("it fails"), "no idea");
}

#[tokio::test]
async fn p128_values_are_true_or_false() {
    let open = gate(json!({ "condition_var": "x" }));
    for value in [
        json!(null),
        json!(false),
        json!(0),
        json!(0.0),
        json!(""),
        json!([]),
        json!({}),
    ] {
        let result = run(open.clone(), vars(json!({ "x": value }))).await;
        assert!(result.is_err(), "{value} is false");
    }
    for value in [
        json!(true),
        json!(1),
        json!(-0.5),
        json!("false"),
        json!([0]),
        json!({ "a": null }),
    ] {
        let result = run(open.clone(), vars(json!({ "x": value }))).await;
        assert!(result.is_ok(), "{value} is true");
    }
}

#[tokio::test]
async fn p129_a_closed_gate_blocks_skips_or_redirects() {
    let closed = |config: Value| run(gate(config), vars(json!({})));
    let error = closed(json!({ "condition_var": "x" })).await;
    assert_eq!(
        error.expect_err("it blocks"),
        "gate node `n`: gate condition failed"
    );
    let error = closed(json!({ "condition_var": "x", "fail_message": "not today" })).await;
    assert_eq!(error.expect_err("it blocks"), "gate node `n`: not today");
    assert!(
        closed(json!({ "condition_var": "x", "on_fail": "skip" }))
            .await
            .is_ok()
    );
    let error = GateNode::new(settings(json!({ "on_fail": "redirect" })));
    assert_eq!(error.expect_err("no target").field, "redirect_node_id");
    let redirect = json!({ "condition_var": "x", "on_fail": "redirect", "redirect_node_id": "y" });
    let error = closed(redirect).await.expect_err("it has no routes");
    assert!(error.contains("put it into `Routed"), "{error}");
    assert!(settings_error::<GateConfig>(json!({ "on_fail": "explode" })).contains("explode"));
}

#[tokio::test]
async fn p130_the_result_has_its_own_variable() {
    let config =
        |action: &str| json!({ "condition_var": "x", "on_fail": action, "result_var": "r" });
    let envelope = run(gate(config("skip")), vars(json!({}))).await;
    let result = var(&envelope.expect("it skips"), "r");
    assert_eq!(result, json!({ "passed": false, "action": "skip" }));
    let envelope = run(gate(config("block")), vars(json!({ "x": 1 }))).await;
    let result = var(&envelope.expect("it passes"), "r");
    assert_eq!(result, json!({ "passed": true, "action": "block" }));
}
