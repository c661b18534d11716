//! Schemas of forms of parts: their fields can be files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{OF_LIST, Schemas};
use crate::names;

/// The most schemas inside of each other.
const DEEPEST: usize = 32;

/// The most schemas that a form is made of. A reference to a schema with two references, and so on, would have no end.
const MOST_SCHEMAS: usize = 10_000;

/// The fields of a form that can be files, with the media types that the schema gives them.
pub(crate) type FileFields = BTreeMap<String, Vec<String>>;

/// A form as it is converted.
struct Form {
    /// The fields that are files by their encoding.
    uploads: BTreeSet<String>,
    with_file: FileFields,
    schemas: usize,
}

impl Form {
    fn enter(&mut self, depth: usize) -> Result<(), String> {
        self.schemas += 1;
        if depth < DEEPEST && self.schemas <= MOST_SCHEMAS {
            return Ok(());
        }
        Err("the schema of its form leads to itself, or is too large: leave it out".into())
    }
}

impl<'d> Schemas<'d> {
    /// The schema of a form, in JSON Schema, in which files are objects with their content. `uploads` are the fields that are
    /// files though their schema does not say it.
    pub(crate) fn convert_form(
        &mut self,
        schema: &'d Value,
        uploads: BTreeSet<String>,
    ) -> Result<(Value, FileFields), String> {
        let mut form = Form {
            uploads,
            with_file: FileFields::new(),
            schemas: 0,
        };
        let converted = self.form(schema, &mut form, 0)?;
        Ok((converted, form.with_file))
    }

    fn form(&mut self, schema: &'d Value, form: &mut Form, depth: usize) -> Result<Value, String> {
        form.enter(depth)?;
        let Value::Object(fields) = schema else {
            return self.convert(schema);
        };
        // The fields of the form must be seen, so it is no definition.
        let target = match fields.get("$ref") {
            Some(Value::String(reference)) => {
                let target = self.document.target(reference)?;
                Some(self.form(target, form, depth + 1)?)
            }
            _ => None,
        };
        let own = self.convert_fields(fields, |schemas, keyword, value| {
            Ok(match (keyword, value) {
                ("$ref", _) => None,
                ("properties", Value::Object(properties)) => {
                    Some(schemas.form_fields(properties, form)?.into())
                }
                (keyword, Value::Array(members)) if OF_LIST.contains(&keyword) => {
                    let members = members.iter();
                    let members = members.map(|member| schemas.form(member, form, depth + 1));
                    Some(members.collect::<Result<Value, String>>()?)
                }
                (keyword, value) => schemas.keyword(keyword, value)?,
            })
        })?;
        Ok(joined(target, own))
    }

    fn form_fields(
        &mut self,
        properties: &'d Map<String, Value>,
        form: &mut Form,
    ) -> Result<Map<String, Value>, String> {
        let mut converted = Map::new();
        for (name, schema) in properties {
            let is_upload = form.uploads.contains(name);
            let files = self.find_files(schema, is_upload)?;
            let field = match files {
                Some(types) => {
                    let types = types.into_iter().map(Into::into).collect();
                    form.with_file.insert(name.clone(), types);
                    self.field(schema, is_upload, form, 0)?
                }
                None => self.convert(schema)?,
            };
            converted.insert(name.clone(), field);
        }
        Ok(converted)
    }

    /// The media types of the files in the schema of a field, in its items and in its alternatives. `None` if there are no files.
    fn find_files(
        &self,
        schema: &'d Value,
        is_upload: bool,
    ) -> Result<Option<BTreeSet<&'d str>>, String> {
        let mut types = None;
        let mut seen = BTreeSet::new();
        let mut pending = vec![schema];
        while let Some(schema) = pending.pop() {
            let schema = self.document.resolve(schema)?;
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            if is_file(schema, is_upload) {
                let types: &mut BTreeSet<_> = types.get_or_insert_default();
                types.extend(schema.get("contentMediaType").and_then(Value::as_str));
            } else {
                pending.extend(parts(schema));
            }
        }
        Ok(types)
    }

    /// The schema of a field, with files where it has them.
    fn field(
        &mut self,
        schema: &'d Value,
        is_upload: bool,
        form: &mut Form,
        depth: usize,
    ) -> Result<Value, String> {
        form.enter(depth)?;
        let resolved = self.document.resolve(schema)?;
        if is_file(resolved, is_upload) {
            return Ok(self.file(schema, resolved));
        }
        if self.find_files(schema, is_upload)?.is_none() {
            return self.convert(schema);
        }
        let Value::Object(fields) = resolved else {
            return self.convert(schema);
        };
        self.convert_fields(fields, |schemas, keyword, value| {
            Ok(match (keyword, value) {
                ("items", Value::Object(_)) => {
                    Some(schemas.field(value, is_upload, form, depth + 1)?)
                }
                (keyword, Value::Array(members)) if OF_LIST.contains(&keyword) => {
                    let members = members.iter();
                    let members = members.map(|it| schemas.field(it, is_upload, form, depth + 1));
                    Some(members.collect::<Result<Value, String>>()?)
                }
                (keyword, value) => schemas.keyword(keyword, value)?,
            })
        })
    }

    /// A reference to the definition of a file.
    fn file(&mut self, schema: &Value, resolved: &Value) -> Value {
        let name = match &self.file {
            Some(name) => name.clone(),
            None => names::unique("file".into(), &mut self.taken),
        };
        self.file = Some(name.clone());
        let mut reference = json!({ "$ref": format!("#/$defs/{name}") });
        let mut described = [schema, resolved].into_iter();
        if let Some(text) = described.find_map(|it| it.get("description")) {
            reference["description"] = text.clone();
        }
        let is_null = has_type(resolved, "null") || resolved["nullable"] == true;
        if is_null {
            return json!({ "anyOf": [reference, { "type": "null" }] });
        }
        reference
    }
}

/// Whether the schema itself is that of a file: bytes, a content with a media type, or, of an upload, a text or anything.
fn is_file(schema: &Value, is_upload: bool) -> bool {
    let can_be_text = schema["type"].is_null() || has_type(schema, "string");
    if !can_be_text || schema.get("contentEncoding").is_some() {
        return false;
    }
    let has_media_type = schema.get("contentMediaType").is_some_and(Value::is_string);
    let is_open = is_upload && schema.is_object() && parts(schema).next().is_none();
    schema["format"] == "binary" || has_media_type || is_open && schema["format"] != "byte"
}

/// Whether the schema has this type, or it is one of its types.
fn has_type(schema: &Value, name: &str) -> bool {
    let kind = &schema["type"];
    kind == name
        || kind
            .as_array()
            .is_some_and(|all| all.iter().any(|it| it == name))
}

/// The schemas of the items and the alternatives.
fn parts(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = OF_LIST.iter().filter_map(|it| schema.get(*it)?.as_array());
    lists.flatten().chain(schema.get("items"))
}

/// A schema that was referred to, with what stands beside the reference.
fn joined(target: Option<Value>, own: Value) -> Value {
    match (target, own) {
        (Some(Value::Object(mut target)), Value::Object(own)) => {
            target.extend(own);
            target.into()
        }
        (Some(target), _) => target,
        (None, own) => own,
    }
}
