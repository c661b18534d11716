//! The schema of the input of a flow that has none of its own: the keys of the state that are its input.

use petalflow::state::{KeyFlag, KeyMeta};
use serde_json::{Map, Value, json};

/// An object of the keys that are marked `input`. Those without a default are required.
pub(super) fn schema(keys: &[KeyMeta]) -> Value {
    let inputs = keys.iter().filter(|key| key.has(KeyFlag::Input));
    let properties: Map<String, Value> = inputs
        .clone()
        .map(|key| (key.name.to_string(), of_type(key.ty)))
        .collect();
    let required = inputs.filter(|key| key.has(KeyFlag::Required));
    let required: Vec<&str> = required.map(|key| key.name).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The schema of a type, by its name. All that is said of an unknown one is its name.
fn of_type(written: &str) -> Value {
    let name: String = written.split_whitespace().collect();
    match name.as_str() {
        "String" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "u8" | "u16" | "u32" | "u64" | "usize" => json!({ "type": "integer", "minimum": 0 }),
        "i8" | "i16" | "i32" | "i64" | "isize" => json!({ "type": "integer" }),
        "f32" | "f64" => json!({ "type": "number" }),
        "" => json!({}),
        _ => json!({ "description": format!("JSON of the Rust type `{name}`.") }),
    }
}

#[cfg(test)]
mod tests {
    use petalflow::prelude::*;

    use super::*;

    #[state]
    struct Order {
        #[key(input)]
        cents: u64,
        #[key(input)]
        lines: Vec<String>,
        #[key(input, default = String::new())]
        note: String,
        done: bool,
    }

    #[node(Order)]
    async fn pay(cents: &u64, lines: &[String], note: &str) -> OrderDone {
        OrderDone(*cents > 0 && !lines.is_empty() && note.is_empty())
    }

    flow!(Pay(Order) { pay });

    #[test]
    fn f43_the_keys_of_the_input_are_a_form() {
        let expected = json!({
            "type": "object",
            "properties": {
                "cents": { "type": "integer", "minimum": 0 },
                "lines": { "description": "JSON of the Rust type `Vec<String>`." },
                "note": { "type": "string" },
            },
            "required": ["cents", "lines"],
        });
        assert_eq!(schema(<Order as State>::KEYS), expected);
        let _ = Pay::new();
    }
}
