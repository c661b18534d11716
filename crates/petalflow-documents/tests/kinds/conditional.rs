//! `ConditionalNode`, rows P182 to P185. The language is in `expressions`.

use petalflow_documents::kinds::{ConditionalConfig, ConditionalNode};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

fn problem(config: Value) -> String {
    let error = ConditionalNode::new(settings(config));
    error.expect_err("the settings are wrong").to_string()
}

async fn decide(config: Value, variables: Value) -> Result<Value, String> {
    let node = ConditionalNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(variables)).await?;
    Ok(var(&envelope, "n_decision"))
}

fn condition(name: &str, expression: &str) -> Value {
    json!({ "name": name, "expression": expression })
}

#[test]
fn p182_settings_are_checked_when_the_node_is_made() {
    assert_eq!(
        problem(json!({ "conditions": [] })),
        "`conditions`: at least one is required"
    );
    let conditions = |list: Value| json!({ "conditions": list });
    assert_eq!(
        problem(conditions(json!([condition("", "a")]))),
        "`conditions[0].name`: it is empty"
    );
    assert_eq!(
        problem(conditions(json!([
            condition("a", "x"),
            condition("a", "y")
        ]))),
        "`conditions[1].name`: another condition has the name `a`"
    );
    assert_eq!(
        problem(conditions(json!([condition("a", " ")]))),
        "`conditions[0].expression`: it is empty"
    );
    assert_eq!(
        problem(conditions(json!([condition("a", "x == ")]))),
        "`conditions[0].expression`: unexpected end of the expression at position 5"
    );
    let order = json!({ "conditions": [condition("a", "x")], "evaluation_order": "random" });
    assert!(settings_error::<ConditionalConfig>(order).contains("random"));
}

#[tokio::test]
async fn p183_the_target_is_the_name_of_the_condition() {
    let config =
        json!({ "conditions": [condition("small", "n < 5"), condition("large", "n >= 5")] });
    let decision = decide(config.clone(), json!({ "n": 7 })).await;
    assert_eq!(decision.expect("it decides")["targets"], json!(["large"]));
    let decision = decide(config, json!({ "n": 2 })).await;
    assert_eq!(decision.expect("it decides")["targets"], json!(["small"]));
}

#[tokio::test]
async fn p184_defaults_and_reasons() {
    let never = json!({ "conditions": [condition("a", "false")] });
    let error = decide(never, json!({})).await.expect_err("nothing holds");
    assert_eq!(
        error,
        "conditional node `n`: no condition holds, and there is no `default`"
    );
    let config = json!({ "conditions": [condition("a", "false")], "default": "d" });
    let decision = decide(config, json!({})).await.expect("it decides");
    assert_eq!(
        decision,
        json!({ "targets": ["d"], "reason": "default branch" })
    );
    let mut config = json!({
        "conditions": [
            { "name": "a", "expression": "n > 1", "description": "more than one" },
            condition("b", "n > 2"),
            condition("c", "n > 9"),
        ],
        "evaluation_order": "all",
    });
    let decision = decide(config.clone(), json!({ "n": 5 }))
        .await
        .expect("it decides");
    assert_eq!(
        decision,
        json!({ "targets": ["a", "b"], "reason": "2 branches matched" })
    );
    let decision = decide(config.clone(), json!({ "n": 2 }))
        .await
        .expect("it decides");
    assert_eq!(
        decision,
        json!({ "targets": ["a"], "reason": "more than one" })
    );
    config["evaluation_order"] = json!("first_match");
    let decision = decide(config, json!({ "n": 5 })).await.expect("it decides");
    assert_eq!(
        decision,
        json!({ "targets": ["a"], "reason": "more than one" })
    );
}

#[tokio::test]
async fn p185_the_output_and_the_input() {
    let config = json!({ "conditions": [condition("a", "input.n == n && input.m.x == 1")], "pass_through": false });
    let node = ConditionalNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(json!({ "n": 7, "m": { "x": 1 } }))).await;
    let envelope = envelope.expect("it decides");
    assert_eq!(
        var(&envelope, "n_output"),
        json!({ "matched": true, "condition": "a" })
    );
    // A variable `input` comes before the object of all variables.
    let config = json!({ "conditions": [condition("a", "input == 3")], "output_key": "o" });
    let node = ConditionalNode::new(settings(config)).expect("they are settings");
    let envelope = run(node, vars(json!({ "input": 3 })))
        .await
        .expect("it decides");
    assert_eq!(var(&envelope, "o"), json!(null), "it passes through");
}

#[tokio::test]
async fn an_expression_that_fails_names_its_condition() {
    let config = json!({ "conditions": [condition("a", "text matches pattern")] });
    let error = decide(config, json!({ "text": "x", "pattern": "(" })).await;
    let error = error.expect_err("the pattern is wrong");
    assert!(
        error.starts_with(
            "conditional node `n`: condition `a`: the right side of `matches` is wrong"
        ),
        "{error}"
    );
}
