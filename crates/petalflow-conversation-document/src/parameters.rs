//! The parameters of a function.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The schema of the arguments of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Parameters {
    /// The parameters by name, each with its JSON Schema.
    pub properties: IndexMap<String, Map<String, Value>>,
    /// The parameters that every call has.
    pub required: Vec<String>,
}

impl Parameters {
    /// Returns the JSON Schema of the arguments.
    ///
    /// A JSON value has its names in alphabetical order. If the properties have another order, the schema has it in
    /// `propertyOrdering`, and the clients of `petalflow_llm` send them in that order.
    ///
    /// ```
    /// use petalflow_conversation_document::Parameters;
    ///
    /// let mut parameters = Parameters::default();
    /// parameters.properties.insert("size".into(), Default::default());
    /// parameters.properties.insert("count".into(), Default::default());
    /// assert_eq!(parameters.schema()["propertyOrdering"], serde_json::json!(["size", "count"]));
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
