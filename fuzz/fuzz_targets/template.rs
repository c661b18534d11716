//! A template of a document, from any text: parsed and filled.
#![no_main]

use petalflow_document_model::documents::template::{MissingValue, Template, Variables};
use serde_json::json;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return assert!(error.position <= text.len()),
    };
    let vars = json!({ "a": { "b": [1, "two"] }, "x": "text" });
    let vars = Variables::new(vars.as_object().expect("an object"));
    if let Ok(text) = template.render(&vars, MissingValue::Empty) {
        assert!(text.len() <= 16 << 20);
    }
});
