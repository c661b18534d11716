//! A template of a document, from any text: translated, and filled by a node.
#![no_main]

use petalflow::prelude::*;
use petalflow_documents_core::template;
use petalflow_documents::Envelope;
use petalflow_documents::kinds::TransformNode;
use serde_json::json;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(jinja) = template::to_jinja(text) else {
        return;
    };
    // A value is written once, so the translation is in proportion to the text.
    assert!(jinja.len() <= 60 * (text.len() + 1));
    let config = json!({ "transform": "template", "template": jinja, "output_var": "out", "missing": "empty" });
    let config = serde_json::from_value(config).expect("the settings are right");
    let Ok(node) = TransformNode::new(config) else {
        return;
    };
    let graph = Graph::<Envelope>::builder("fuzz").node_as("fill", node).build();
    let flow = graph.expect("a graph of one node");
    let vars = Envelope::new()
        .with_var("a", json!({ "b": [1, "two"] }))
        .with_var("x", "text");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    if let Ok(envelope) = runtime.block_on(flow.run(vars)) {
        assert!(envelope.get_var_string("out").len() <= 16 << 20);
    }
});
