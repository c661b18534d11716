//! An expression of a condition, from any text.
#![no_main]

use petalflow_document_model::expression::Expression;
use serde_json::{Map, json};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let vars = Map::from_iter([
        ("a".to_owned(), json!({ "b": [1, "two", null], "length": 3 })),
        ("n".to_owned(), json!(2.5)),
    ]);
    match Expression::parse(text) {
        Ok(expression) => drop(expression.evaluate(&vars)),
        Err(error) => assert!(error.position <= text.len()),
    }
});
