//! Mistakes in the schemas of parameters.

use serde_json::{Value, json};

use super::Budget;
use super::rule;
use crate::conversations::Parameters;
use crate::source::Pointer;

fn parameter_errors(properties: Value) -> Vec<String> {
    let parameters = Parameters {
        properties: serde_json::from_value(properties).expect("schemas are objects"),
        required: Vec::new(),
    };
    let errors = rule::parameter_errors(&parameters, &Pointer::root(), &mut Budget::default());
    let text = |it: &rule::ParameterError| format!("parameter '{}' {}", it.parameter, it.problem);
    errors.iter().map(text).collect()
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
fn large_patterns_are_refused() {
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

/// A schema of so many levels: a string in arrays. `json!` would serialize the inner schema at each level.
fn arrays(levels: usize) -> Value {
    let text = json!({ "type": "string" });
    (1..levels).fold(text, |items, _| {
        Value::Object([("items".into(), items)].into_iter().collect())
    })
}

#[test]
fn a_schema_made_by_code_may_be_too_deep() {
    assert!(parameter_errors(json!({ "a": arrays(128) })).is_empty());
    let [error] = parameter_errors(json!({ "a": arrays(129) }))
        .try_into()
        .unwrap();
    assert!(
        error.contains("has a schema of more than 128 levels"),
        "{error}"
    );
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
