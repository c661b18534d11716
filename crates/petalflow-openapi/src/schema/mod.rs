//! Schemas of the document as schemas of arguments.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::document::Document;
use super::{file, names, reference};

mod form;

/// Keywords that say nothing to a model, or that only OpenAPI has.
const DROPPED: [&str; 14] = [
    "$anchor",
    "$comment",
    "$id",
    "$schema",
    "deprecated",
    "discriminator",
    "example",
    "examples",
    "externalDocs",
    "nullable",
    "readOnly",
    "title",
    "writeOnly",
    "xml",
];

/// Formats of OpenAPI that are not those of JSON Schema. Some providers reject unknown formats.
const DROPPED_FORMATS: [&str; 7] = [
    "binary", "byte", "double", "float", "int32", "int64", "password",
];

/// Keywords whose value is a schema, a list of schemas, or an object of schemas.
const OF_SCHEMA: [&str; 9] = [
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedProperties",
];
const OF_LIST: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const OF_OBJECT: [&str; 3] = ["$defs", "dependentSchemas", "patternProperties"];

/// Schemas of one tool, in JSON Schema. What a schema refers to becomes a definition of the tool, once, so recursive schemas
/// have an end.
pub(super) struct Schemas<'d> {
    document: &'d Document,
    /// The names of the definitions, by reference.
    names: BTreeMap<&'d str, String>,
    taken: BTreeSet<String>,
    /// The references whose definitions are not written yet.
    pending: Vec<&'d str>,
    /// The name of the definition of a file, if there is one.
    file: Option<String>,
}

impl<'d> Schemas<'d> {
    pub(super) fn of(document: &'d Document) -> Self {
        Schemas {
            document,
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
            pending: Vec::new(),
            file: None,
        }
    }

    /// The definitions of all that was referred to, for `$defs`. `None` if their texts have more than `limit` bytes.
    pub(super) fn definitions(
        mut self,
        limit: usize,
    ) -> Result<Option<Map<String, Value>>, String> {
        let mut definitions = Map::new();
        if let Some(name) = self.file.take() {
            definitions.insert(name, file::schema());
        }
        let mut bytes = 0;
        // One after the other: a chain of references may be long.
        while let Some(reference) = self.pending.pop() {
            let converted = self.convert(self.document.target(reference)?)?;
            bytes += converted.to_string().len();
            if bytes > limit {
                return Ok(None);
            }
            definitions.insert(self.names[reference].clone(), converted);
        }
        Ok(Some(definitions))
    }

    /// The schema, in JSON Schema.
    pub(super) fn convert(&mut self, schema: &'d Value) -> Result<Value, String> {
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(_) => return Ok(schema.clone()),
            _ => return Err(format!("`{schema}` is no schema: write an object")),
        };
        self.convert_fields(fields, Self::keyword)
    }

    /// The schema with these fields, whose keywords the function converts.
    fn convert_fields(
        &mut self,
        fields: &'d Map<String, Value>,
        mut keyword: impl FnMut(&mut Self, &str, &'d Value) -> Result<Option<Value>, String>,
    ) -> Result<Value, String> {
        let mut converted = Map::new();
        for (name, value) in fields {
            if let Some(value) = keyword(self, name, value)? {
                converted.insert(name.clone(), value);
            }
        }
        self.without_read_only(fields, &mut converted)?;
        exclusive(&mut converted);
        if fields.get("nullable") == Some(&Value::Bool(true)) {
            return Ok(nullable(converted));
        }
        Ok(converted.into())
    }

    fn keyword(&mut self, keyword: &str, value: &'d Value) -> Result<Option<Value>, String> {
        if DROPPED.contains(&keyword) || keyword.starts_with("x-") {
            return Ok(None);
        }
        Ok(Some(match (keyword, value) {
            ("$ref", Value::String(reference)) => self.reference(reference)?,
            ("$dynamicRef" | "$recursiveRef", _) => {
                return Err(format!("its schema has `{keyword}`: write `$ref`"));
            }
            ("format", value) if DROPPED_FORMATS.iter().any(|it| value == it) => return Ok(None),
            // `true` says in some documents that a property is required, which its object says.
            ("required", Value::Bool(_)) => return Ok(None),
            ("properties", Value::Object(_)) => self.object(value)?,
            (keyword, Value::Object(_) | Value::Bool(_)) if OF_SCHEMA.contains(&keyword) => {
                self.convert(value)?
            }
            (keyword, Value::Array(parts)) if OF_LIST.contains(&keyword) => {
                let parts = parts.iter().map(|part| self.convert(part));
                parts.collect::<Result<Value, String>>()?
            }
            (keyword, Value::Object(_)) if OF_OBJECT.contains(&keyword) => self.object(value)?,
            (_, value) => value.clone(),
        }))
    }

    fn object(&mut self, schemas: &'d Value) -> Result<Value, String> {
        let schemas = schemas.as_object().into_iter().flatten();
        let schemas = schemas.map(|(name, schema)| Ok((name.clone(), self.convert(schema)?)));
        Ok(Value::Object(schemas.collect::<Result<_, String>>()?))
    }

    /// The reference to the definition of the tool.
    fn reference(&mut self, reference: &'d str) -> Result<Value, String> {
        if let Some(name) = self.names.get(reference) {
            return Ok(format!("#/$defs/{name}").into());
        }
        self.document.target(reference)?;
        let last = reference::last_name(reference);
        let name = names::unique(names::valid(last, "schema"), &mut self.taken);
        let definition = format!("#/$defs/{name}");
        self.names.insert(reference, name);
        self.pending.push(reference);
        Ok(definition.into())
    }

    /// Removes the properties that only a service sets.
    fn without_read_only(
        &self,
        fields: &'d Map<String, Value>,
        converted: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let properties = fields.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let is_read_only = |it: &Value| it.get("readOnly") == Some(&Value::Bool(true));
            if !is_read_only(property) && !is_read_only(self.document.resolve(property)?) {
                continue;
            }
            if let Some(Value::Object(properties)) = converted.get_mut("properties") {
                properties.remove(name);
            }
            if let Some(Value::Array(required)) = converted.get_mut("required") {
                required.retain(|it| it != name);
            }
        }
        Ok(())
    }
}

/// In OpenAPI 3.0, `exclusiveMinimum: true` says that `minimum` is not allowed itself.
fn exclusive(schema: &mut Map<String, Value>) {
    for (keyword, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match schema.get(keyword) {
            Some(Value::Bool(true)) => match schema.remove(limit) {
                Some(number) => {
                    schema.insert(keyword.into(), number);
                }
                None => {
                    schema.remove(keyword);
                }
            },
            Some(Value::Bool(false)) => {
                schema.remove(keyword);
            }
            _ => {}
        }
    }
}

/// The schema, which accepts `null` too: `nullable` of OpenAPI 3.0.
fn nullable(mut schema: Map<String, Value>) -> Value {
    let Some(Value::String(kind)) = schema.get("type") else {
        // A list of types says itself whether `null` is one, and a schema without keywords accepts everything.
        return if schema.is_empty() || schema.contains_key("type") {
            schema.into()
        } else {
            json!({ "anyOf": [schema, { "type": "null" }] })
        };
    };
    let kinds = json!([kind, "null"]);
    schema.insert("type".into(), kinds);
    if let Some(Value::Array(values)) = schema.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    schema.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(schemas: Value, schema: Value) -> Result<(Value, Value), String> {
        let document =
            json!({ "openapi": "3.0.3", "components": { "schemas": schemas }, "wanted": schema });
        let document = Document::new(document).unwrap();
        let mut schemas = Schemas::of(&document);
        let converted = schemas.convert(&document.root()["wanted"])?;
        let definitions = schemas.definitions(10_000)?;
        Ok((converted, definitions.map_or(Value::Null, Value::Object)))
    }

    #[test]
    fn f44_6_keywords_of_3_0_are_those_of_json_schema() {
        let of_3_0 = json!({ "type": "object", "x-internal": 1, "properties": {
            "title": { "type": "string", "nullable": true, "enum": ["a"], "example": "a", "title": "T" },
            "size": { "type": "integer", "format": "int64", "minimum": 1, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false },
            "other": { "allOf": [{ "type": "string" }], "nullable": true },
            "id": { "type": "string", "readOnly": true },
        }, "required": ["id", "title"] });
        let (schema, _) = converted(json!({}), of_3_0).unwrap();
        assert_eq!(
            schema,
            json!({ "type": "object", "properties": {
                "title": { "type": ["string", "null"], "enum": ["a", null] },
                "size": { "type": "integer", "exclusiveMinimum": 1, "maximum": 9 },
                "other": { "anyOf": [{ "allOf": [{ "type": "string" }] }, { "type": "null" }] },
            }, "required": ["title"] })
        );
    }

    #[test]
    fn f44_6_recursive_references_are_definitions() {
        let node = json!({ "type": "object", "properties": {
            "name": { "type": "string" },
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/a.Node" } },
        } });
        let reference =
            json!({ "$ref": "#/components/schemas/a.Node", "description": "The root." });
        let (schema, definitions) = converted(json!({ "a.Node": node }), reference).unwrap();
        assert_eq!(
            schema,
            json!({ "$ref": "#/$defs/a_Node", "description": "The root." })
        );
        assert_eq!(
            definitions["a_Node"]["properties"]["children"]["items"],
            json!({ "$ref": "#/$defs/a_Node" })
        );
        assert_eq!(definitions.as_object().unwrap().len(), 1);
        let error = converted(
            json!({}),
            json!({ "items": { "$ref": "#/components/schemas/None" } }),
        );
        assert_eq!(
            error.unwrap_err(),
            "it refers to `#/components/schemas/None`, which the document does not have: add it, or correct the reference"
        );
        let error = converted(json!({}), json!({ "$ref": "common.yaml#/Node" }));
        assert!(
            error
                .unwrap_err()
                .contains("the file `common.yaml` was not given")
        );
    }
}
