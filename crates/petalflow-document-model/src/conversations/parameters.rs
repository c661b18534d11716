//! The parameters of a function.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The schema of the arguments of a function.
///
/// ```
/// use petalflow_document_model::conversations::Parameters;
/// use serde_json::json;
///
/// let mut parameters = Parameters::default();
/// parameters.properties.insert("size".into(), serde_json::from_value(json!({ "type": "string" }))?);
/// parameters.required.push("size".into());
/// assert_eq!(parameters.schema()["properties"]["size"]["type"], "string");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Parameters {
    /// The parameters by name, each with its JSON Schema.
    pub properties: IndexMap<String, Map<String, Value>>,
    /// The parameters that every call has.
    pub required: Vec<String>,
}

impl Parameters {
    /// Reads the JSON Schema of arguments: its properties and those that are required.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Parameters;
    /// use serde_json::json;
    ///
    /// let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] });
    /// let parameters = Parameters::of_schema(&schema);
    /// assert_eq!(parameters.schema(), schema);
    /// ```
    pub fn of_schema(schema: &Value) -> Self {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut properties: IndexMap<String, Map<String, Value>> = properties
            .into_iter()
            .flatten()
            // `true` allows anything.
            .map(|(name, schema)| {
                (
                    name.clone(),
                    schema.as_object().cloned().unwrap_or_default(),
                )
            })
            .collect();
        let names = |keyword: &str| {
            let list = schema.get(keyword).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str)
        };
        for (index, name) in names("propertyOrdering").enumerate() {
            if let Some(known) = properties.get_index_of(name) {
                properties.move_index(known, index.min(properties.len() - 1));
            }
        }
        Parameters {
            required: names("required").map(str::to_owned).collect(),
            properties,
        }
    }

    /// Returns the JSON Schema of the arguments.
    ///
    /// A JSON value has its names in alphabetical order, unless a crate of the program has the feature `preserve_order` of
    /// `serde_json`. If the properties have another order, the schema has it in `propertyOrdering`, and the clients of
    /// `petalflow_llm` send them in that order.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Parameters;
    ///
    /// let mut parameters = Parameters::default();
    /// parameters.properties.insert("size".into(), Default::default());
    /// parameters.properties.insert("count".into(), Default::default());
    /// let schema = parameters.schema();
    /// assert!(schema["properties"].get("size").is_some());
    /// if schema["properties"].as_object().unwrap().keys().eq(["count", "size"]) {
    ///     assert_eq!(schema["propertyOrdering"], serde_json::json!(["size", "count"]));
    /// }
    /// ```
    pub fn schema(&self) -> Value {
        let properties = self.properties.iter();
        let properties: Map<String, Value> = properties
            .map(|(name, schema)| (name.clone(), schema.clone().into()))
            .collect();
        let is_sorted = self.properties.keys().eq(properties.keys());
        let mut schema =
            json!({ "type": "object", "properties": properties, "required": self.required });
        if !is_sorted {
            schema["propertyOrdering"] = self.properties.keys().cloned().collect();
        }
        schema
    }
}
