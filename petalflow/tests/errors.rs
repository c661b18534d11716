//! The stored form of a node's failure.

use petalflow::NodeError;
use petalflow::error::FailureKind;
use serde_json::json;

#[test]
fn a_failure_survives_storage() {
    let stored = json!({
        "node": "fetch",
        "namespace": "sub:2",
        "superstep": 3,
        "attempt": 1,
        "index": 4,
        "kind": "timeout",
        "message": "too late",
        "of a later version": true,
    });
    let error: NodeError = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!((error.index, error.kind), (Some(4), FailureKind::Timeout));
    let mut known = stored;
    known.as_object_mut().unwrap().remove("of a later version");
    assert_eq!(serde_json::to_value(&error).unwrap(), known);
}

#[test]
fn missing_fields_and_unknown_kinds_are_named() {
    let error = serde_json::from_str::<NodeError>(r#"{"node":"a","more":1}"#)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("missing field `namespace`"), "{error}");
    let error = serde_json::from_str::<FailureKind>(r#""late""#)
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("unknown variant `late`"), "{error}");
}
