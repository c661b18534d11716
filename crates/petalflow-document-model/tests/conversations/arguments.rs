//! Arguments of calls, checked with the parameters of their function.

use petalflow_document_model::conversations::{ArgumentChecker, Code, Parameters, Source, check};
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

fn parameter_errors(properties: Value) -> Vec<String> {
    let errors = ArgumentChecker::new(&parameters(properties, &[])).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
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
        (json!({ "pattern": "b+" }), json!("abbc")),
        (json!({ "pattern": "a/b" }), json!("a/b")),
        (json!({ "maxLength": 2 }), json!("éé")),
        (json!({ "multipleOf": 0.01 }), json!(19.99)),
        (json!({ "minimum": 3 }), json!("a text has no minimum")),
        (
            json!({ "type": "string", "format": "phone" }),
            json!("call me"),
        ),
        (json!({ "format": "date" }), json!(1)),
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
        parameter_errors(json!({
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
    let [large] = parameter_errors(json!({ "a": { "pattern": r"(\w{1000}){1000}" } }))
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
    let errors = parameter_errors(many.collect::<serde_json::Map<_, _>>().into());
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
    let errors = parameter_errors(json!({ "a": schema }));
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

#[test]
fn alternatives_are_checked_and_give_their_form() {
    let size = json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "enum": ["s", "l"] }, { "type": "null" }] });
    for right in [json!(3), json!("s"), json!(null)] {
        assert_eq!(problem(size.clone(), right), None);
    }
    assert_eq!(
        problem(size.clone(), json!("m")).as_deref(),
        Some(
            "`a` must be a whole number, not the text `m`, or `a` must be one of `s`, `l`, not the text `m`, or `a` must be null, \
             not the text `m`"
        )
    );
    let checked = checker(json!({ "a": size }), &[]).check(json!({ "a": 2.0 }));
    assert_eq!(checked.unwrap(), json!({ "a": 2 }));
    // `null` for an absent argument that does not allow it is left out.
    let text = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] });
    let checked = checker(json!({ "a": text }), &[]).check(json!({ "a": null }));
    assert_eq!(checked.unwrap(), json!({}));

    let one = json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 9 }] });
    assert_eq!(problem(one.clone(), json!(0)), None);
    assert_eq!(
        problem(one, json!(5)).as_deref(),
        Some("`a` must fit only one of its alternatives, and fits several")
    );
    let all = json!({ "allOf": [{ "minimum": 1 }, { "maximum": 9 }] });
    assert_eq!(problem(all.clone(), json!(5)), None);
    assert_eq!(
        problem(all, json!(10)).as_deref(),
        Some("`a` must be at most 9, not 10")
    );
    let nested = json!({ "type": "array", "items": { "oneOf": [
        { "type": "object", "properties": { "zip": { "type": "string" } }, "required": ["zip"] }, { "type": "boolean" }] } });
    assert_eq!(
        problem(nested, json!([{ "zip": "1" }, {}])).as_deref(),
        Some("`a[1].zip` is missing, or `a[1]` must be true or false, not an object")
    );
}

#[test]
fn formats_are_checked() {
    for (format, right, wrong) in [
        (
            "date",
            vec!["2024-02-29", "0001-12-31"],
            vec![
                "2023-02-29",
                "2026-13-01",
                "26-01-01",
                "2026-1-01",
                "tomorrow",
                "2026-04-31",
            ],
        ),
        (
            "time",
            vec!["18:30:00Z", "18:30:00.5+02:00"],
            vec!["18:30", "25:00:00Z", "18:30:00", "18:30:00.Z", "6 pm"],
        ),
        (
            "date-time",
            vec!["2026-03-31T18:30:00Z", "2026-03-31t23:59:60-01:30"],
            vec!["2026-03-31", "2026-03-31 18:30:00Z"],
        ),
        (
            "email",
            vec!["ann@example.com"],
            vec!["ann", "@example.com", "ann at@example .com"],
        ),
        (
            "uri",
            vec!["https://example.com/", "tel:+1"],
            vec!["example.com", "http://a b", ":x"],
        ),
        (
            "uuid",
            vec!["123e4567-e89b-12d3-a456-426614174000"],
            vec!["123e4567", "123e4567-e89b-12d3-a456-42661417400g"],
        ),
        ("ipv4", vec!["192.0.2.1"], vec!["192.0.2", "2001:db8::1"]),
        ("ipv6", vec!["2001:db8::1"], vec!["192.0.2.1"]),
    ] {
        let schema = json!({ "type": "string", "format": format });
        for text in right {
            assert_eq!(problem(schema.clone(), json!(text)), None, "{format}");
        }
        for text in wrong {
            let problem =
                problem(schema.clone(), json!(text)).unwrap_or_else(|| panic!("{format}: {text}"));
            assert!(problem.starts_with("`a` must be a"), "{problem}");
            assert!(
                problem.ends_with(&format!(", and `{text}` is not")),
                "{problem}"
            );
        }
    }
}

#[test]
fn schemas_with_mistakes_are_refused() {
    assert_eq!(
        parameter_errors(json!({
            "a": { "type": "int", "description": "x" },
            "b": { "type": ["string", "Integer"] },
            "c": { "type": "string", "enum": ["s", "l", "s"] },
            "d": { "type": "string", "desciption": "x", "example": "y", "x-order": 1 },
            "e": { "type": "array", "itmes": { "type": "string" } },
            "f": { "type": "object", "properties": { "g": { "type": "flaot" } } },
            "h": { "anyOf": { "type": "string" } },
            "i": { "oneOf": [{ "type": "bool" }] },
            "j": { "type": 5 },
        })),
        [
            "parameter 'a' has the type 'int', which JSON Schema does not have; did you mean `integer`? (string, number, integer, boolean, array, object)",
            "parameter 'b' has the type 'Integer', which JSON Schema does not have; did you mean `integer`? (string, number, integer, boolean, array, object)",
            "parameter 'c' has `s` twice in its `enum`: remove one of them",
            "parameter 'd' has the unknown field `desciption`; did you mean `description`?",
            "parameter 'e' has the unknown field `itmes`; did you mean `items`?",
            "parameter 'f.g' has the type 'flaot', which JSON Schema does not have (string, number, integer, boolean, array, object)",
            "parameter 'h' has `anyOf`, which is not a list of schemas",
            "parameter 'i' has the type 'bool', which JSON Schema does not have; did you mean `boolean`? (string, number, integer, boolean, array, object)",
            "parameter 'j' has a `type` that is not a text",
        ]
    );
}
