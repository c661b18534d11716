//! Shared helpers for the tests of node kinds.

use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow_documents::Envelope;
use petalflow_documents::kinds::{AnyNode, EnvelopeNode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Runs a flow of this one node, `n`. Returns the envelope, or the message of the node's error.
pub(crate) async fn run(node: impl EnvelopeNode, envelope: Envelope) -> Result<Envelope, String> {
    let flow = Graph::<Envelope>::builder("one").node_as("n", AnyNode::new(node));
    let flow = flow.build().expect("one node is a graph");
    flow.run(envelope)
        .await
        .map_err(|error| match error.kind() {
            RunErrorKind::Node(error) => error.message.clone(),
            other => panic!("the node fails, not the run: {other:?}"),
        })
}

/// Reads settings from JSON.
pub(crate) fn settings<T: DeserializeOwned>(value: Value) -> T {
    let text = value.to_string();
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{text} is refused: {error}"))
}

/// The error of settings that are refused.
pub(crate) fn settings_error<T: DeserializeOwned>(value: Value) -> String {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(_) => panic!("{value} is accepted"),
        Err(error) => error.to_string(),
    }
}

/// An envelope with these variables.
pub(crate) fn vars(value: Value) -> Envelope {
    let Value::Object(vars) = value else {
        panic!("variables are an object, not {value}");
    };
    Envelope {
        vars,
        ..Envelope::new()
    }
}

/// A variable, or `null`.
pub(crate) fn var(envelope: &Envelope, name: &str) -> Value {
    envelope.get_var(name).cloned().unwrap_or(json!(null))
}
