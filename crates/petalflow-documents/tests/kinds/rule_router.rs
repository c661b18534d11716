//! `RuleRouter`, rows P104 to P109.

use petalflow_documents::kinds::{RuleRouter, RuleRouterConfig};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

/// The decision of a router with these settings.
async fn decide(config: Value, variables: Value) -> Value {
    let router = RuleRouter::new(settings(config));
    let envelope = run(router, vars(variables)).await.expect("it decides");
    var(&envelope, "n_decision")
}

/// Whether one condition holds.
async fn is_condition_true(condition: Value, variables: Value) -> bool {
    let config = json!({ "rules": [{ "target": "t", "conditions": [condition] }] });
    let decision = decide(config, variables).await;
    decision["targets"] == json!(["t"])
}

fn compare(path: &str, op: &str, value: Value) -> Value {
    json!({ "var_path": path, "op": op, "value": value })
}

#[tokio::test]
async fn p104_all_conditions_of_a_rule_must_hold() {
    let rule =
        |conditions: Value| json!({ "rules": [{ "target": "t", "conditions": conditions }] });
    let both = json!([compare("a", "eq", json!(1)), compare("b", "eq", json!(2))]);
    let decision = decide(rule(both.clone()), json!({ "a": 1, "b": 2 })).await;
    assert_eq!(decision["targets"], json!(["t"]));
    let decision = decide(rule(both), json!({ "a": 1, "b": 3 })).await;
    assert_eq!(decision["targets"], json!([]));
    let decision = decide(rule(json!([])), json!({})).await;
    assert_eq!(decision["targets"], json!(["t"]));
}

#[tokio::test]
async fn p105_the_first_rule_wins_unless_several_are_allowed() {
    let rules = json!([
        { "target": "a", "reason": "first", "conditions": [compare("n", "gt", json!(0))] },
        { "target": "b", "reason": "second", "conditions": [compare("n", "gt", json!(9))] },
        { "target": "c", "reason": "third" },
    ]);
    let decision = decide(json!({ "rules": rules }), json!({ "n": 5 })).await;
    assert_eq!(decision, json!({ "targets": ["a"], "reason": "first" }));
    let config = json!({ "rules": rules, "allow_multiple": true });
    let decision = decide(config, json!({ "n": 5 })).await;
    assert_eq!(
        decision,
        json!({ "targets": ["a", "c"], "reason": "first; third" })
    );
}

#[tokio::test]
async fn p106_without_a_match_the_default_is_chosen_or_nothing() {
    let never = json!([{ "target": "a", "conditions": [compare("x", "exists", json!(null))] }]);
    let decision = decide(json!({ "rules": never, "default_target": "d" }), json!({})).await;
    assert_eq!(
        decision,
        json!({ "targets": ["d"], "reason": "default route" })
    );
    let decision = decide(json!({ "rules": never }), json!({})).await;
    assert_eq!(decision, json!({ "targets": [], "reason": "" }));
}

#[tokio::test]
async fn p107_missing_values_and_operators() {
    for (op, missing) in [
        ("eq", false),
        ("neq", true),
        ("gt", false),
        ("lt", false),
        ("contains", false),
        ("exists", false),
        ("not_exists", true),
        ("in", false),
    ] {
        let held = is_condition_true(compare("x", op, json!(1)), json!({ "y": 1 })).await;
        assert_eq!(held, missing, "{op} of a missing value");
    }
    let present = json!({ "x": null, "a": { "b": 3 }, "c.d": 4 });
    assert!(is_condition_true(compare("x", "exists", json!(null)), present.clone()).await);
    assert!(!is_condition_true(compare("x", "not_exists", json!(null)), present.clone()).await);
    assert!(is_condition_true(compare("a.b", "gt", json!(2)), present.clone()).await);
    assert!(is_condition_true(compare("c.d", "lt", json!(5)), present.clone()).await);
    let one_of = json!({ "var_path": "a.b", "op": "in", "values": ["x", 3.0] });
    assert!(is_condition_true(one_of, present).await);
    // Upstream an unknown operator is false, so that a rule with a typing error never matches. Here it is refused.
    let error = settings_error::<RuleRouterConfig>(
        json!({ "rules": [{ "target": "t", "conditions": [compare("x", "equals", json!(1))] }] }),
    );
    assert!(error.contains("unknown variant `equals`"), "{error}");
}

#[tokio::test]
async fn p108_numbers_are_compared_with_numbers_and_texts_with_texts() {
    // Upstream compares by printed text unless both are numbers: the text "10" is less than the number 9, and `true`
    // equals "true". Here values of different types are different and have no order.
    assert!(is_condition_true(compare("x", "eq", json!(1.0)), json!({ "x": 1 })).await);
    assert!(is_condition_true(compare("x", "gt", json!(9)), json!({ "x": 10 })).await);
    assert!(is_condition_true(compare("x", "lt", json!("b")), json!({ "x": "a" })).await);
    for op in ["lt", "gt", "eq"] {
        assert!(
            !is_condition_true(compare("x", op, json!(9)), json!({ "x": "10" })).await,
            "{op}"
        );
        assert!(
            !is_condition_true(compare("x", op, json!("true")), json!({ "x": true })).await,
            "{op}"
        );
    }
    assert!(
        is_condition_true(
            compare("x", "eq", json!([1, { "a": 2 }])),
            json!({ "x": [1.0, { "a": 2 }] })
        )
        .await
    );
}

#[tokio::test]
async fn p109_contains_depends_on_the_container() {
    // Upstream searches in the printed container, so that the list `["a", "b"]` contains "a b".
    let list = json!({ "x": ["a", "b", 3] });
    assert!(is_condition_true(compare("x", "contains", json!("a")), list.clone()).await);
    assert!(is_condition_true(compare("x", "contains", json!(3)), list.clone()).await);
    assert!(!is_condition_true(compare("x", "contains", json!("a b")), list).await);
    let text = json!({ "x": "petals 7" });
    assert!(is_condition_true(compare("x", "contains", json!("tal")), text.clone()).await);
    assert!(is_condition_true(compare("x", "contains", json!(7)), text).await);
    let object = json!({ "x": { "name": 1 } });
    assert!(is_condition_true(compare("x", "contains", json!("name")), object.clone()).await);
    assert!(!is_condition_true(compare("x", "contains", json!("nam")), object).await);
    assert!(!is_condition_true(compare("x", "contains", json!(1)), json!({ "x": 11 })).await);
}
