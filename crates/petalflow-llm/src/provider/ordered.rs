//! The text of a request, with the properties of tools in their order.
//!
//! A JSON value has its names in alphabetical order. A schema names another order in `propertyOrdering`, which is not sent:
//! strict modes refuse it.

use std::collections::HashSet;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

/// The keyword of a schema that names the order of its properties.
pub(super) const ORDER: &str = "propertyOrdering";

/// The text of a body.
pub(super) fn text(body: &Value) -> String {
    let tools = body.get("tools").filter(|tools| has_order(tools));
    let ordered = match (body, tools) {
        (Value::Object(body), Some(_)) => serde_json::to_string(&Body(body)).ok(),
        _ => None,
    };
    ordered.unwrap_or_else(|| body.to_string())
}

fn has_order(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_order),
        Value::Object(fields) => order(fields).is_some() || fields.values().any(has_order),
        _ => false,
    }
}

/// The properties of a schema, and their order.
fn order(schema: &Map<String, Value>) -> Option<(&Map<String, Value>, &Vec<Value>)> {
    let properties = schema.get("properties")?.as_object()?;
    Some((properties, schema.get(ORDER)?.as_array()?))
}

struct Body<'v>(&'v Map<String, Value>);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            // What is said may have any names.
            if name == "tools" {
                map.serialize_entry(name, &Tools(value))?;
            } else {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

struct Tools<'v>(&'v Value);

impl Serialize for Tools<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Array(items) => serializer.collect_seq(items.iter().map(Tools)),
            Value::Object(fields) => {
                let order = order(fields);
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in fields {
                    match order {
                        Some(_) if name == ORDER => {}
                        Some((properties, order)) if name == "properties" => {
                            map.serialize_entry(name, &Properties(properties, order))?;
                        }
                        _ => map.serialize_entry(name, &Tools(value))?,
                    }
                }
                map.end()
            }
            value => value.serialize(serializer),
        }
    }
}

struct Properties<'v>(&'v Map<String, Value>, &'v [Value]);

impl Serialize for Properties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Properties(properties, order) = self;
        let mut written = HashSet::new();
        let ordered = order.iter().filter_map(Value::as_str);
        let all = ordered.chain(properties.keys().map(String::as_str));
        let all = all.filter(|name| written.insert(*name));
        let all = all.filter_map(|name| Some((name, Tools(properties.get(name)?))));
        serializer.collect_map(all)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_written_in_their_order() {
        let schema = json!({ "properties": { "a": { "type": "string" }, "b": {}, "c": {} },
            "propertyOrdering": ["c", "a", "unknown"], "type": "object" });
        let messages =
            json!([{ "properties": { "a": 1, "b": 2 }, "propertyOrdering": ["b", "a"] }]);
        let body = json!({ "messages": messages, "tools": [{ "parameters": schema }] });
        assert_eq!(
            text(&body),
            r#"{"messages":[{"properties":{"a":1,"b":2},"propertyOrdering":["b","a"]}],"#
                .to_owned()
                + r#""tools":[{"parameters":{"properties":{"c":{},"a":{"type":"string"},"b":{}},"type":"object"}}]}"#
        );
    }

    #[test]
    fn a_parameter_may_have_the_name_of_the_keyword() {
        let body = json!({ "tools": [{ "properties": { "properties": { "type": "object" },
            "propertyOrdering": { "type": "array" } } }] });
        assert_eq!(text(&body), body.to_string());
    }
}
