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
    /// ```
    /// use petalflow_conversation_document::Parameters;
    ///
    /// assert_eq!(Parameters::default().schema()["type"], "object");
    /// ```
    pub fn schema(&self) -> Value {
        let properties = self.properties.iter();
        let properties: Map<String, Value> = properties
            .map(|(name, schema)| (name.clone(), schema.clone().into()))
            .collect();
        json!({ "type": "object", "properties": properties, "required": self.required })
    }
}
