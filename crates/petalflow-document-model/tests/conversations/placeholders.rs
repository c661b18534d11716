//! Placeholders in prompts.

use petalflow_document_model::conversations::Template;
use serde_json::{Value, json};

fn fill(text: &str, state: Value) -> Result<String, String> {
    let template: Template = text.parse().map_err(|error| format!("{error}"))?;
    let state = state.as_object().expect("an object");
    template.fill(state).map_err(|error| error.to_string())
}

#[test]
fn f092_placeholders_are_filled_from_the_state() {
    let state = json!({ "name": "Ann", "order": { "size": "large", "count": 2 }, "list": [1, "a"], "ok": true });
    for (text, expected) in [
        ("Hello {{ name }}.", "Hello Ann."),
        ("{{name}}{{ name }}", "AnnAnn"),
        ("{{ order.size }} x {{ order.count }}", "large x 2"),
        ("{{ list }} {{ ok }}", "[1,\"a\"] true"),
        (
            "no placeholder, { one brace }",
            "no placeholder, { one brace }",
        ),
        ("open {{ name", "open {{ name"),
        ("", ""),
    ] {
        assert_eq!(fill(text, state.clone()).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn f092_a_missing_key_is_an_error_that_names_it() {
    let error = fill("{{ order.size }}", json!({ "order": { "count": 1 } })).unwrap_err();
    assert_eq!(
        error,
        "the placeholder `{{ order.size }}` cannot be filled: the state has no `order.size`"
    );
    let error = fill("{{ order.size.unit }}", json!({ "order": {} })).unwrap_err();
    assert!(error.ends_with("the state has no `order.size`"), "{error}");
    let error = fill("{{ name }}", json!({})).unwrap_err();
    assert!(error.ends_with("the state has no `name`"), "{error}");
}

#[test]
fn f092_an_escaped_placeholder_is_text() {
    assert_eq!(
        fill("write \\{{ name }}", json!({})).as_deref(),
        Ok("write {{ name }}")
    );
    assert_eq!(
        fill("\\{{ a }} {{ a }}", json!({ "a": 1 })).as_deref(),
        Ok("{{ a }} 1")
    );
}

#[test]
fn f092_inserted_values_are_not_searched_for_placeholders() {
    assert_eq!(
        fill("{{ a }}", json!({ "a": "{{ a }}" })).as_deref(),
        Ok("{{ a }}")
    );
}

#[test]
fn f092_a_placeholder_that_is_not_a_name_is_an_error() {
    for text in [
        "{{ }}",
        "{{ a b }}",
        "{{ 1 }}",
        "{{ a. }}",
        "{{ a | upper }}",
        "{{{ a }}}",
    ] {
        let error = fill(text, json!({})).unwrap_err();
        assert!(error.contains("is not a placeholder"), "{text}: {error}");
    }
}

proptest::proptest! {
    #[test]
    fn f092_a_text_without_braces_is_unchanged(text in "[^{}]{0,40}") {
        proptest::prop_assert_eq!(fill(&text, json!({})), Ok(text));
    }
}

#[test]
fn f45_a_placeholder_in_the_form_of_a_graph_is_answered_with_that_of_a_conversation() {
    let error = fill("{{.order.dish}}", json!({})).unwrap_err();
    assert!(
        error.contains("in a conversation a key has no dot before it: write `{{ order.dish }}`"),
        "{error}"
    );
    let error = fill("{{.}}", json!({})).unwrap_err();
    assert!(error.contains("such as `{{ name }}`"), "{error}");
}
