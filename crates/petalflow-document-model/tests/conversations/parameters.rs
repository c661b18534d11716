//! The JSON Schemas of parameters.

use petalflow_document_model::conversations::{Code, Source, check};

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
