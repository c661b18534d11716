//! What is wrong with a document is listed at once.

use petalflow_document_model::conversations::{Source, check};

#[test]
fn f013_errors_of_the_graph_are_listed_beside_those_of_the_schema() {
    let config = "initial_node: strat
nodes:
  start:
    task_messages: [{ role: system, content: 1 }]
    functions: [{ name: go, transition_to: nowhere }]
  end:
    functions: []
    task_messages: []
    colour: red
";
    let errors = check(&Source::new("a.yaml", config))
        .unwrap_err()
        .to_string();
    for expected in [
        "a.yaml:1:15: error[CV-002]: initial_node 'strat' is not a defined node",
        "a.yaml:4:46: error[CV-107]: expected a text, not the number 1",
        "a.yaml:5:44: error[CV-002]: node 'start' function 'go' transitions to unknown node 'nowhere'",
        "a.yaml:9:5: error[CV-105]: there is no field `colour`",
    ] {
        assert!(errors.contains(expected), "{expected}\n{errors}");
    }
    assert_eq!(errors.lines().count(), 4, "{errors}");
    // Nothing follows from what the schema refuses.
    let lost = r#"{ "initial_node": "a", "nodes": { "a": 1, "b": { "task_messages": [], "functions": [{ "name": "f", "transition_to": "a" }] } } }"#;
    let errors = check(&Source::new("a.json", lost)).unwrap_err().to_string();
    assert_eq!(
        errors,
        "a.json:1:40: error[CV-107]: expected an object, not the number 1"
    );
    let misspelt =
        r#"{ "initial_nod": "a", "nodes": { "a": { "task_messages": [], "functions": [] } } }"#;
    let errors = check(&Source::new("a.json", misspelt)).unwrap_err();
    assert_eq!(errors.to_string().lines().count(), 1, "{errors}");
}

#[test]
fn f45_each_expected_kind_is_named_once() {
    let text = r#"{ "initial_node": "a", "nodes": { "a": { "role_messages": [{ "role": "system", "content": "x" }], "task_messages": [],
        "functions": [5] } } }"#;
    let errors = check(&Source::new("a.json", text)).unwrap_err().to_string();
    assert_eq!(
        errors,
        "a.json:2:23: error[CV-107]: expected an object, not the number 5"
    );
}

#[test]
fn lists_are_not_null_in_any_form() {
    for (text, place) in [
        (
            r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [], "functions": null } } }"#,
            "1:76",
        ),
        (
            r#"{ "initial_node": "a", "nodes": { "a": { "messages": [], "functions": null } } }"#,
            "1:71",
        ),
        (
            r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "initial", "position": { "x": 0, "y": 0 }, "data": { "functions": null } }] }"#,
            "1:154",
        ),
    ] {
        let errors = check(&Source::new("a.json", text)).unwrap_err().to_string();
        let expected = format!(
            "a.json:{place}: error[CV-107]: expected a list, not `null`: leave the field out"
        );
        assert_eq!(errors, expected);
    }
}
