//! Arguments of calls, checked with the parameters of their function.

use petalflow_conversation_document::{ArgumentChecker, Code, Parameters, Source, check};
use serde_json::{Value, json};

fn parameters(properties: Value, required: &[&str]) -> Parameters {
    Parameters {
        properties: serde_json::from_value(properties).expect("schemas are objects"),
        required: required.iter().map(|&it| it.to_owned()).collect(),
    }
}

fn checker(properties: Value, required: &[&str]) -> ArgumentChecker {
    ArgumentChecker::new(&parameters(properties, required)).expect("the schemas can be read")
}

/// What is wrong with one argument `a` of this schema.
fn problem(schema: Value, value: Value) -> Option<String> {
    let checker = checker(json!({ "a": schema }), &[]);
    let checked = checker.check(json!({ "a": value }));
    checked.err().map(|errors| errors.problems().collect())
}

fn refused(properties: Value) -> Vec<String> {
    let errors = ArgumentChecker::new(&parameters(properties, &[])).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn each_keyword_is_checked() {
    let cases = [
        (
            json!({ "type": "integer" }),
            json!("2"),
            "`a` must be a whole number, not the text `2`",
        ),
        (
            json!({ "type": "integer" }),
            json!(2.5),
            "`a` must be a whole number, not 2.5",
        ),
        (
            json!({ "type": ["string", "null"] }),
            json!(1),
            "`a` must be a text or null, not 1",
        ),
        (
            json!({ "type": "boolean" }),
            json!("yes"),
            "`a` must be true or false, not the text `yes`",
        ),
        (
            json!({ "type": "string", "enum": ["s", "l"] }),
            json!("m"),
            "`a` must be one of `s`, `l`, not the text `m`",
        ),
        (
            json!({ "type": "integer", "enum": [1, 2] }),
            json!("2"),
            "`a` must be one of `1`, `2`, as a number and not as a text, not the text `2`",
        ),
        (
            json!({ "enum": ["1"] }),
            json!(1),
            "`a` must be `1`, as a text, not 1",
        ),
        (
            json!({ "const": true }),
            json!(false),
            "`a` must be `true`, not false",
        ),
        (
            json!({ "type": "number", "minimum": 1.5 }),
            json!(1),
            "`a` must be at least 1.5, not 1",
        ),
        (
            json!({ "type": "integer", "maximum": 12 }),
            json!(13),
            "`a` must be at most 12, not 13",
        ),
        (
            json!({ "exclusiveMinimum": 0 }),
            json!(0),
            "`a` must be above 0, not 0",
        ),
        (
            json!({ "minimum": 5, "exclusiveMinimum": 0 }),
            json!(4),
            "`a` must be at least 5, not 4",
        ),
        (
            json!({ "maximum": 5, "exclusiveMaximum": true }),
            json!(5),
            "`a` must be below 5, not 5",
        ),
        (
            json!({ "multipleOf": 0.5 }),
            json!(1.3),
            "`a` must be a multiple of 0.5, not 1.3",
        ),
        (
            json!({ "minLength": 2 }),
            json!("é"),
            "`a` must have at least 2 characters, not 1",
        ),
        (
            json!({ "maxLength": 2 }),
            json!("abc"),
            "`a` must have at most 2 characters, not 3",
        ),
        (
            json!({ "pattern": "^[0-9]{5}$" }),
            json!("1234"),
            "`a` must match the pattern `^[0-9]{5}$`, and `1234` does not",
        ),
        (
            json!({ "type": "array", "minItems": 1 }),
            json!([]),
            "`a` must have at least 1 items, not 0",
        ),
        (
            json!({ "type": "array", "maxItems": 1 }),
            json!([1, 2]),
            "`a` must have at most 1 items, not 2",
        ),
        (
            json!({ "uniqueItems": true }),
            json!(["x", "y", "x"]),
            "`a[2]` is in the list twice: each item must be different",
        ),
        (
            json!({ "items": { "type": "string" } }),
            json!(["x", 1]),
            "`a[1]` must be a text, not 1",
        ),
        (
            json!({ "properties": { "zip": { "type": "string" } }, "required": ["zip"] }),
            json!({}),
            "`a.zip` is missing",
        ),
        (
            json!({ "properties": { "zip": { "minLength": 5 } } }),
            json!({ "zip": "1" }),
            "`a.zip` must have at least 5 characters, not 1",
        ),
        (
            json!({ "properties": { "zip": {} }, "additionalProperties": false }),
            json!({ "zipp": 1 }),
            "there is no argument `a.zipp`; did you mean `zip`?",
        ),
        (
            json!({ "additionalProperties": { "type": "integer" } }),
            json!({ "b": "c" }),
            "`a.b` must be a whole number, not the text `c`",
        ),
    ];
    for (schema, value, expected) in cases {
        assert_eq!(
            problem(schema.clone(), value).as_deref(),
            Some(expected),
            "{schema}"
        );
    }
}

#[test]
fn valid_arguments_are_accepted() {
    let cases = [
        (json!({ "type": "number" }), json!(2)),
        (
            json!({ "type": "integer", "minimum": 0, "maximum": 10 }),
            json!(10),
        ),
        (json!({ "type": "string", "enum": [1, "b"] }), json!(1)),
        (json!({ "enum": [1] }), json!(1.0)),
        (json!({ "type": "string", "nullable": true }), json!(null)),
        (json!({ "type": "str" }), json!([])),
        (json!({ "pattern": "b+" }), json!("abbc")),
        (json!({ "pattern": "a/b" }), json!("a/b")),
        (json!({ "maxLength": 2 }), json!("éé")),
        (json!({ "multipleOf": 0.01 }), json!(19.99)),
        (json!({ "minimum": 3 }), json!("a text has no minimum")),
        (
            json!({ "anyOf": [{ "type": "string" }], "format": "date" }),
            json!(1),
        ),
    ];
    for (schema, value) in cases {
        assert_eq!(problem(schema.clone(), value), None, "{schema}");
    }
}

#[test]
fn arguments_come_in_the_form_that_code_reads() {
    let checker = checker(
        json!({
            "count": { "type": "integer" }, "price": { "type": "number" }, "note": { "type": "string" },
            "any": {}, "items": { "type": "array", "items": { "type": "integer" } },
        }),
        &["count"],
    );
    let given = json!({ "count": 2.0, "price": 2.0, "note": null, "any": null, "items": [1.0], "more": [1.0] });
    let expected = json!({ "count": 2, "price": 2.0, "any": null, "items": [1], "more": [1.0] });
    assert_eq!(checker.check(given).unwrap(), expected);
    assert_eq!(
        checker
            .check(Value::Null)
            .unwrap_err()
            .problems()
            .collect::<Vec<_>>(),
        ["`count` is missing"]
    );
    assert_eq!(
        checker
            .check(json!({ "count": null }))
            .unwrap_err()
            .problems()
            .collect::<Vec<_>>(),
        ["`count` must be a whole number, not null"]
    );
}

#[test]
fn all_problems_are_named_up_to_ten() {
    let checker = checker(
        json!({ "a": { "type": "string" }, "b": { "minimum": 3 }, "c": { "items": { "type": "integer" } } }),
        &["d"],
    );
    let errors = checker.check(json!({ "a": 1, "b": 2 })).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "the arguments do not fit: `d` is missing; `a` must be a text, not 1; `b` must be at least 3, not 2. Call the \
         function again with arguments that fit"
    );
    let long = vec!["x"; 100_000];
    let errors = checker.check(json!({ "c": long, "d": 1 })).unwrap_err();
    assert_eq!(errors.problems().count(), 10);
}

#[test]
fn schemas_that_cannot_be_checked_are_named() {
    assert_eq!(
        refused(json!({
            "a": { "pattern": "(?=x)" },
            "b": { "pattern": "(a" },
            "c": { "minimum": 5, "maximum": 3 },
            "d": { "enum": [] },
            "e": { "minimum": "five" },
            "f": { "minLength": -1 },
            "g": { "minItems": 3, "maxItems": 2 },
            "h": { "multipleOf": 0 },
            "i": { "minimum": 1, "exclusiveMaximum": 1 },
            "j": { "properties": { "k": { "items": { "pattern": r"(a)\1" } } } },
        })),
        [
            "parameter 'a' has the pattern `(?=x)`, which cannot be used: look-around, including look-ahead and \
             look-behind, is not supported",
            "parameter 'b' has the pattern `(a`, which cannot be used: unclosed group",
            "parameter 'c' has the minimum 5 above its maximum 3: no number fits",
            "parameter 'd' has an empty `enum`: no value fits",
            "parameter 'e' has `minimum`, which is not a number",
            "parameter 'f' has `minLength` -1: it must be a whole number of at least 0",
            "parameter 'g' has `minItems` 3 above `maxItems` 2: no value fits",
            "parameter 'h' has `multipleOf` 0: it must be above 0",
            "parameter 'i' has limits between which there is no number: 1 is excluded",
            "parameter 'j.k[]' has the pattern `(a)\\1`, which cannot be used: backreferences are not supported",
        ]
    );
}

#[test]
fn patterns_that_would_run_away_end_at_once() {
    let checker = checker(
        json!({ "a": { "pattern": "^(a+)+$" }, "b": { "pattern": "(x*)*y" } }),
        &[],
    );
    let long = "a".repeat(20_000);
    assert!(
        checker
            .check(json!({ "a": format!("{long}b"), "b": "x".repeat(20_000) }))
            .is_err()
    );
    assert!(checker.check(json!({ "a": long })).is_ok());
    let [large] = refused(json!({ "a": { "pattern": r"(\w{1000}){1000}" } }))
        .try_into()
        .unwrap();
    assert_eq!(
        large,
        "parameter 'a' has the pattern `(\\w{1000}){1000}`, which is too large: use shorter repetitions, or `maxLength`"
    );
    // Each is small enough, but not all of them.
    let many = (0..1000).map(|i| {
        (
            format!("p{i}"),
            json!({ "pattern": format!(r"\w{{{}}}", 3 + i % 9) }),
        )
    });
    let errors = refused(many.collect::<serde_json::Map<_, _>>().into());
    assert!(
        errors[0].contains("too many large patterns"),
        "{}",
        errors[0]
    );
}

#[test]
fn a_schema_made_by_code_may_be_too_deep() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..1000 {
        schema = json!({ "items": schema });
    }
    let errors = refused(json!({ "a": schema }));
    assert_eq!(errors.len(), 1);
    assert!(
        errors[0].contains("has a schema of more than 128 levels"),
        "{}",
        errors[0]
    );
}

#[test]
fn a_document_is_refused_if_its_parameters_cannot_be_checked() {
    let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "initial",
        "position": { "x": 0, "y": 0 }, "data": { "functions": [{ "name": "f", "description": "F.", "properties": {
        "zip": { "type": "string", "pattern": "(?<!a)b" } } }] } }] }"#;
    let errors = check(&Source::new("a.json", text)).unwrap_err();
    let found: Vec<_> = errors
        .iter()
        .map(|it| (it.code, it.pointer.as_str()))
        .collect();
    assert_eq!(
        found,
        [(
            Code::BadParameter,
            "/nodes/0/data/functions/0/properties/zip/pattern"
        )]
    );
    let text = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [], "functions": [{ "type": "function",
        "function": { "name": "f", "parameters": { "type": "object", "properties": { "n": { "minimum": 2,
        "maximum": 1 } } } } }] } } }"#;
    let errors = check(&Source::new("a.json", text)).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "a.json:2:91: error[CV-011]: parameter 'n' of function 'f' has the minimum 2 above its maximum 1: no number fits"
    );
}

#[test]
fn f038_an_argument_that_is_missing_is_left_out() {
    // The Python that the editor generates replaces it by 0, False or "".
    let properties = json!({ "n": { "type": "integer" }, "b": { "type": "boolean" }, "s": { "type": "string" } });
    let checker = checker(properties, &[]);
    assert_eq!(checker.check(json!({})).unwrap(), json!({}));
    let nulls = json!({ "n": null, "b": null, "s": null });
    assert_eq!(checker.check(nulls).unwrap(), json!({}));
}

#[test]
fn f039_lists_and_objects_are_not_texts() {
    // The Python that the editor generates declares both as `str`.
    assert_eq!(problem(json!({ "type": "array" }), json!([1])), None);
    assert_eq!(
        problem(json!({ "type": "object" }), json!({ "a": 1 })),
        None
    );
    assert!(problem(json!({ "type": "array" }), json!("[1]")).is_some());
    assert!(problem(json!({ "type": "object" }), json!("{}")).is_some());
    assert_eq!(problem(json!({ "type": "number" }), json!(1)), None);
    assert!(problem(json!({ "type": "integer" }), json!(1.5)).is_some());
}
