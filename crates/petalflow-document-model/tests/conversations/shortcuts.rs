//! A right document is read without the work that only a wrong one needs. Both ways find the same.

use petalflow_document_model::conversations::{Source, check};
use petalflow_test_support::mutated;
use proptest::prelude::*;

const EDITOR: &str = r#"{
  "meta": { "name": "Order", "version": "1" }, "global_functions": [],
  "nodes": [
    { "id": "ask", "type": "initial", "position": { "x": 0, "y": -1.5e2 }, "data": {
      "label": "Ask", "role_messages": [{ "role": "system", "content": "You take \"orders\"." }],
      "task_messages": [{ "role": "system", "content": "Ask for {{ size }}." }],
      "context_strategy": { "strategy": "RESET_WITH_SUMMARY", "summary_prompt": "Sum up." }, "respond_immediately": false,
      "functions": [{ "name": "pick", "description": "Picks.", "required": ["size"],
        "properties": { "size": { "type": "string", "enum": ["small", 2, 2.5] }, "count": { "type": "integer", "minimum": 1, "items": { "b": 1, "a": [true, null] } } },
        "decision": { "action": "result = 1", "default_next_node_id": "end", "conditions": [
          { "operator": "==", "value": "1", "next_node_id": "end" }] } }] } },
    { "id": "end", "type": "end", "position": { "x": 10, "y": 0.1 }, "data": {
      "post_actions": [{ "type": "tts_say", "text": "Bye \u00e4." }, { "type": "end_conversation" }] } },
    { "id": "far", "type": "node", "position": { "x": 0, "y": 0 }, "data": { "a/b~c": { "x": "y" } } }],
  "edges": [{ "id": "e", "source": "ask", "target": "end" }]
}"#;

const CONFIG: &str = r#"{
  "initial_node": "start",
  "nodes": {
    "start": { "task_messages": [{ "role": "developer", "content": "Greet {{ name }}." }], "respond_immediately": true,
      "functions": [{ "name": "go", "transition_only": true, "description": "Goes.", "transition_to": "end" },
        { "name": "book", "transition_to": { "field": "s", "cases": { "yes": "end", "no": "start" }, "default": "end" } }],
      "pre_actions": [{ "type": "tts_say", "text": "Hi." }], "context_strategy": "reset" },
    "end": { "task_messages": [], "post_actions": [{ "type": "end_conversation" }, { "type": "tts_say" }] }
  }
}"#;

const STATIC: &str = r#"{
  "initial_node": "start",
  "nodes": {
    "start": { "role_messages": [{ "role": "system", "content": "Be kind." }],
      "task_messages": [{ "role": "system", "content": "Greet." }],
      "functions": [{ "type": "function", "function": { "name": "go", "description": "Goes.", "transition_to": "end",
        "parameters": { "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] } } }] },
    "end": { "task_messages": [], "functions": [], "post_actions": [{ "type": "end_conversation" }] }
  }
}"#;

fn assert_same(source: &Source) {
    assert_eq!(
        check(source),
        check(&source.clone().thorough()),
        "{source:?}"
    );
}

#[test]
fn right_documents_have_the_same_meaning() {
    for (form, text) in [("editor", EDITOR), ("config", CONFIG), ("static", STATIC)] {
        for name in ["a.json", "a.yaml"] {
            let source = Source::new(name, text);
            let checked = check(&source);
            assert!(checked.is_ok(), "{form} in {name}: {checked:?}");
            assert_same(&source);
        }
    }
}

/// Each value and each name is replaced by others.
#[test]
fn documents_with_one_wrong_value_have_the_same_diagnostics() {
    let values = [
        "null",
        "\"\"",
        "-0",
        "5.0",
        "true",
        "[]",
        "{}",
        "\"start\"",
        "1e3",
        "[{}]",
        "99999999999999999999",
    ];
    for text in [EDITOR, CONFIG, STATIC] {
        let mut ends = text.match_indices('"').map(|(index, _)| index);
        while let (Some(start), Some(end)) = (ends.next(), ends.next()) {
            let is_name = text[end + 1..].starts_with(':');
            let others: &[&str] = if is_name {
                &["\"x\"", "\"type\"", "\"name\""]
            } else {
                &values
            };
            for other in others {
                let changed = [&text[..start], other, &text[end + 1..]].concat();
                assert_same(&Source::new("a.json", changed));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn changed_documents_have_the_same_diagnostics(
        bytes in mutated([EDITOR, CONFIG, STATIC].map(|it| it.as_bytes().to_vec()).to_vec()),
        is_yaml in prop::bool::weighted(0.2),
    ) {
        let text = String::from_utf8_lossy(&bytes);
        assert_same(&Source::new(if is_yaml { "a.yaml" } else { "a.json" }, text));
    }
}
