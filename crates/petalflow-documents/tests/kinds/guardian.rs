//! `GuardianNode`, rows P151 to P163.

use petalflow_documents::kinds::{GuardianConfig, GuardianNode, PiiType};
use serde_json::{Value, json};

use crate::support::{run, settings, settings_error, var, vars};

/// The result of one check of the variable `x`.
async fn check(check: Value, x: Value) -> Result<Value, String> {
    let config =
        json!({ "input_var": "x", "checks": [check], "on_fail": "skip", "result_var": "r" });
    let node = GuardianNode::new(settings(config)).expect("they are settings");
    Ok(var(&run(node, vars(json!({ "x": x }))).await?, "r"))
}

async fn passes(config: Value, x: Value) -> bool {
    check(config, x).await.expect("it checks")["passed"] == json!(true)
}

fn problem(check: Value) -> String {
    let error = GuardianNode::new(settings(json!({ "checks": [check] })));
    error.expect_err("the settings are wrong").to_string()
}

#[tokio::test]
async fn p151_the_input_is_a_variable_or_all() {
    let config = json!({ "input_var": "x", "on_fail": "skip" });
    let node = GuardianNode::new(settings(config)).expect("they are settings");
    let error = run(node, vars(json!({}))).await.expect_err("it is missing");
    assert_eq!(error, "guardian node `n`: there is no variable `x`");
    let config = json!({ "checks": [{ "name": "c", "type": "required", "field": "a.b" }] });
    let node = GuardianNode::new(settings(config)).expect("they are settings");
    assert!(
        run(node.clone(), vars(json!({ "a": { "b": 1 } })))
            .await
            .is_ok()
    );
    assert!(run(node, vars(json!({ "a": {} }))).await.is_err());
}

#[tokio::test]
async fn p152_a_missing_field_fails_only_if_it_is_required() {
    for other in [
        json!({ "type": "max_length", "max_length": 0 }),
        json!({ "type": "min_length", "min_length": 9 }),
        json!({ "type": "pattern", "pattern": "x" }),
        json!({ "type": "enum", "allowed_values": [1] }),
        json!({ "type": "type", "expected_type": "null" }),
        json!({ "type": "range", "min": 1 }),
        json!({ "type": "pii" }),
        json!({ "type": "schema", "schema": { "type": "null" } }),
    ] {
        let mut with_field = other.clone();
        with_field["field"] = json!("a.b");
        assert!(passes(with_field, json!({ "a": {} })).await, "{other}");
    }
    assert!(
        !passes(
            json!({ "type": "required", "field": "a.b" }),
            json!({ "a": {} })
        )
        .await
    );
    let result = check(json!({ "type": "range", "field": "a" }), json!(7))
        .await
        .expect("it checks");
    assert_eq!(
        result["failures"][0]["message"],
        json!("cannot read field `a` of a value that is not an object")
    );
}

#[tokio::test]
async fn p153_empty_values() {
    let required = json!({ "type": "required" });
    for empty in [json!(null), json!(""), json!([]), json!({})] {
        assert!(!passes(required.clone(), empty.clone()).await, "{empty}");
    }
    for value in [json!(0), json!(false), json!(" "), json!([0])] {
        assert!(passes(required.clone(), value.clone()).await, "{value}");
    }
    let fields = json!({ "type": "required", "required_fields": ["a", "b.c", "d"] });
    let result = check(fields.clone(), json!({ "a": "", "b": { "c": 0 } }))
        .await
        .expect("it checks");
    let failed: Vec<&Value> = result["failures"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| &it["field"])
        .collect();
    assert_eq!(failed, [&json!("a"), &json!("d")]);
    assert!(!passes(fields, json!("text")).await);
}

#[tokio::test]
async fn p154_lengths_are_characters_items_and_fields() {
    // Upstream counts the bytes of texts: 6 for `fürüß`... here 5.
    let length = |min: usize, max: usize, x: Value| async move {
        passes(
            json!({ "type": "min_length", "min_length": min }),
            x.clone(),
        )
        .await
            && passes(json!({ "type": "max_length", "max_length": max }), x).await
    };
    assert!(length(5, 5, json!("fürüß")).await);
    assert!(length(2, 2, json!([1, 2])).await);
    assert!(length(1, 1, json!({ "a": 1 })).await);
    assert!(length(0, 0, json!(7)).await);
    assert!(!length(0, 4, json!("fürüß")).await);
    assert!(!length(6, 9, json!("fürüß")).await);
    let result = check(
        json!({ "type": "max_length", "max_length": 2 }),
        json!("abc"),
    )
    .await
    .expect("it checks");
    assert_eq!(
        result["failures"][0]["message"],
        json!("length 3 exceeds maximum 2")
    );
    assert!(problem(json!({ "type": "max_length" })).starts_with("`checks[0].max_length`: "));
}

#[tokio::test]
async fn p155_patterns() {
    let pattern = json!({ "type": "pattern", "pattern": "^[0-9]+$" });
    assert!(passes(pattern.clone(), json!("123")).await);
    assert!(passes(pattern.clone(), json!(123)).await);
    assert!(!passes(pattern, json!("12a")).await);
    assert!(
        problem(json!({ "type": "pattern", "pattern": "(" }))
            .starts_with("`checks[0].pattern`: `(` is not")
    );
    assert!(problem(json!({ "type": "pattern" })).starts_with("`checks[0].pattern`: "));
    // Patterns that take exponential time elsewhere.
    let evil = json!({ "type": "pattern", "pattern": "^(a+)+$" });
    assert!(!passes(evil, json!(format!("{}b", "a".repeat(50_000)))).await);
}

#[tokio::test]
async fn p156_allowed_values() {
    let allowed = json!({ "type": "enum", "allowed_values": ["a", 2, true, null, [1]] });
    for value in [json!("a"), json!(2.0), json!(true), json!(null), json!([1])] {
        assert!(passes(allowed.clone(), value.clone()).await, "{value}");
    }
    for value in [json!("A"), json!("2"), json!(3), json!("true")] {
        assert!(!passes(allowed.clone(), value.clone()).await, "{value}");
    }
    assert!(problem(json!({ "type": "enum" })).starts_with("`checks[0].allowed_values`: "));
}

#[tokio::test]
async fn p157_names_of_types() {
    for (name, value) in [
        ("string", json!("a")),
        ("number", json!(1.5)),
        ("bool", json!(true)),
        ("array", json!([])),
        ("object", json!({})),
        ("null", json!(null)),
    ] {
        for expected in ["string", "number", "bool", "array", "object", "null"] {
            let config = json!({ "type": "type", "expected_type": expected });
            assert_eq!(
                passes(config, value.clone()).await,
                name == expected,
                "{value} {expected}"
            );
        }
    }
    let error = settings_error::<GuardianConfig>(
        json!({ "checks": [{ "type": "type", "expected_type": "boolean" }] }),
    );
    assert!(error.contains("unknown variant `boolean`"), "{error}");
    assert!(problem(json!({ "type": "type" })).starts_with("`checks[0].expected_type`: "));
}

#[tokio::test]
async fn p158_schemas_know_the_types_of_json_schema() {
    // Upstream's schemas compare with the names of row P157, so that these two never match.
    for (name, good, bad) in [
        ("boolean", json!(true), json!(1)),
        ("integer", json!(7), json!(7.5)),
    ] {
        let schema = json!({ "type": "schema", "schema": { "type": name } });
        assert!(passes(schema.clone(), good).await, "{name}");
        assert!(!passes(schema, bad).await, "{name}");
    }
}

#[tokio::test]
async fn p159_all_errors_of_a_schema_are_collected() {
    let schema = json!({ "name": "form", "type": "schema", "schema": {
        "type": "object",
        "required": ["id"],
        "properties": {
            "user": { "type": "object", "properties": {
                "name": { "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]*$" },
                "age": { "type": "integer", "minimum": 18, "maximum": 99 },
                "role": { "enum": ["admin", "guest"] },
            } },
        },
    } });
    assert!(
        passes(
            schema.clone(),
            json!({ "id": 1, "user": { "name": "ann", "age": 20, "role": "guest" } })
        )
        .await
    );
    let result = check(
        schema.clone(),
        json!({ "user": { "name": "ANNAA", "age": 7, "role": "x" } }),
    )
    .await;
    let result = result.expect("it checks");
    let mut fields: Vec<&str> = result["failures"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["field"].as_str().unwrap_or(""))
        .collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        ["", "user.age", "user.name", "user.name", "user.role"]
    );
    // A value is an error only if its type is wrong.
    let result = check(schema.clone(), json!("text"))
        .await
        .expect("it checks");
    assert_eq!(result["failures"].as_array().expect("a list").len(), 1);
    let mut nested = schema;
    nested["field"] = json!("form");
    let result = check(
        nested,
        json!({ "form": { "id": 1, "user": { "age": "x" } } }),
    )
    .await
    .expect("it checks");
    assert_eq!(result["failures"][0]["field"], json!("form.user.age"));
    let error = problem(json!({ "type": "schema", "schema": { "type": 7 } }));
    assert!(
        error.starts_with("`checks[0].schema`: it is not a JSON Schema"),
        "{error}"
    );
    let remote = problem(
        json!({ "type": "schema", "schema": { "$ref": "https://example.com/schema.json" } }),
    );
    assert!(
        remote.starts_with("`checks[0].schema`: "),
        "no schema is loaded: {remote}"
    );
}

#[tokio::test]
async fn p160_ranges_are_inclusive() {
    let range = json!({ "type": "range", "min": 1, "max": 2.5 });
    for value in [json!(1), json!(2.5)] {
        assert!(passes(range.clone(), value).await);
    }
    for value in [json!(0.9), json!(2.6), json!("2"), json!(null)] {
        assert!(!passes(range.clone(), value.clone()).await, "{value}");
    }
    assert!(passes(json!({ "type": "range", "min": 1 }), json!(1e300)).await);
}

#[tokio::test]
async fn p161_personal_data() {
    let examples = [
        ("ssn", "123-45-6789"),
        ("email", "ann@mail.example.com"),
        ("phone", "(555) 123-4567"),
        ("credit_card", "4111-1111-1111-1111"),
        ("ip_address", "192.168.0.254"),
        ("date_of_birth", "12/31/1999"),
    ];
    for (name, text) in examples {
        let config = json!({ "type": "pii", "pii_types": [name] });
        let result = check(config.clone(), json!(format!("It is {text}.")))
            .await
            .expect("it checks");
        assert_eq!(result["passed"], json!(false), "{name}");
        assert_eq!(result["failures"][0]["pii_type"], json!(name));
        assert_eq!(
            result["failures"][0]["message"],
            json!(format!("potential {name} PII detected"))
        );
        assert!(passes(config, json!("It is 12 petals.")).await, "{name}");
        // All six are searched by default, also in objects.
        assert!(
            !passes(json!({ "type": "pii" }), json!({ "note": [text] })).await,
            "{name}"
        );
    }
    assert!(
        !PiiType::CreditCard.is_in("1234 5678 9012 3456"),
        "its check digit is wrong"
    );
    assert!(!PiiType::IpAddress.is_in("version 1.2.3.400"));
    // Upstream a finding is a failure only with `block_pii`, and otherwise nothing at all.
    let warn = json!({ "type": "pii", "block_pii": false });
    let result = check(warn, json!("ann@example.com"))
        .await
        .expect("it checks");
    assert_eq!(result["passed"], json!(true));
    assert_eq!(result["warnings"][0]["pii_type"], json!("email"));
}

#[tokio::test]
async fn p162_actions() {
    let checks = json!([
        { "name": "a", "type": "required", "field": "a", "message": "no a" },
        { "name": "b", "type": "required", "field": "b" },
    ]);
    let guard = |settings: Value| {
        let mut config = json!({ "checks": checks });
        config
            .as_object_mut()
            .expect("an object")
            .extend(settings.as_object().expect("an object").clone());
        config
    };
    let node = |config: Value| GuardianNode::new(settings(config)).expect("they are settings");
    let error = run(node(guard(json!({}))), vars(json!({})))
        .await
        .expect_err("it fails");
    assert_eq!(
        error,
        "guardian node `n`: validation failed: no a; required field `b` is missing"
    );
    let config = guard(json!({ "fail_message": "bad", "stop_on_first_failure": true }));
    let error = run(node(config), vars(json!({})))
        .await
        .expect_err("it fails");
    assert_eq!(error, "guardian node `n`: bad: no a");
    assert!(
        run(node(guard(json!({ "on_fail": "skip" }))), vars(json!({})))
            .await
            .is_ok()
    );
    let redirect = guard(json!({ "on_fail": "redirect", "redirect_node_id": "x" }));
    let error = run(node(redirect.clone()), vars(json!({})))
        .await
        .expect_err("it has no routes");
    assert!(error.contains("put it into `Routed"), "{error}");
    assert!(
        run(node(redirect), vars(json!({ "a": 1, "b": 1 })))
            .await
            .is_ok()
    );
    let untyped = json!({ "checks": [{ "name": "a" }] });
    assert!(settings_error::<GuardianConfig>(untyped).contains("missing field `type`"));
    let error = GuardianNode::new(settings(json!({ "on_fail": "redirect" })));
    assert_eq!(error.expect_err("no target").field, "redirect_node_id");
}

#[tokio::test]
async fn p163_the_result() {
    let config = json!({ "name": "size", "type": "max_length", "field": "a", "max_length": 1 });
    let result = check(config.clone(), json!({ "a": "xyz" }))
        .await
        .expect("it checks");
    assert_eq!(
        result,
        json!({ "passed": false, "failures": [{
            "check_name": "size", "check_type": "max_length", "field": "a",
            "message": "length 3 exceeds maximum 1", "expected": 1, "actual": 3,
        }] })
    );
    let result = check(config, json!({ "a": "" })).await.expect("it checks");
    assert_eq!(result, json!({ "passed": true, "failures": [] }));
    let node = GuardianNode::new(settings(json!({ "on_fail": "skip", "result_var": "r" })))
        .expect("they are settings");
    let node = node.check("own", |value, _| {
        Ok((value["x"] == json!(1)).then(|| "it is one".into()))
    });
    let envelope = run(node, vars(json!({ "x": 1 }))).await.expect("it skips");
    assert_eq!(
        var(&envelope, "r")["failures"],
        json!([{ "check_name": "own", "check_type": "custom", "message": "it is one" }])
    );
}
