//! Checks values with a JSON Schema: the part of the language that schemas of Rust types use.
//!
//! It reports all that is wrong, and leaves out what is wrong, so that the other rules can check the rest.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::source::diagnostic::Code;
use crate::source::keywords::{
    allowed, constant, integer_limits, min_length, required, resolve, tag, types, variants,
};
use crate::source::names::{shown, similar, suggestion};
use crate::source::pointer::Pointer;
use crate::source::report::Report;
use crate::source::shape::Shapes;

pub use crate::source::descriptions::without_examples;

/// The codes of a kind of document.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::schema::Codes;
///
/// let codes = Codes { name: "field", unknown: Wrong, missing: Wrong, wrong: |_| Wrong, null_is_absent: true };
/// assert_eq!((codes.wrong)("/price"), codes.unknown);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Codes<C> {
    /// What a name of an object is called in messages, such as `field`.
    pub name: &'static str,
    /// The code of an unknown name.
    pub unknown: C,
    /// The code of a missing value.
    pub missing: C,
    /// The code of a wrong value at a pointer.
    pub wrong: fn(&str) -> C,
    /// Whether a name that may be absent may be written with `null`, also where its type does not allow it.
    pub null_is_absent: bool,
}

/// A JSON Schema that was read once, to check many documents.
#[derive(Debug)]
pub struct Schema {
    pub(crate) value: Value,
    pub(crate) shapes: Shapes,
}

impl Schema {
    /// Reads a JSON Schema.
    ///
    /// ```
    /// use petalflow_document_model::source::schema::Schema;
    ///
    /// let schema = Schema::new(serde_json::json!({ "type": "object" }));
    /// assert_eq!(schema.value()["type"], "object");
    /// ```
    pub fn new(value: Value) -> Self {
        Schema {
            shapes: Shapes::new(&value),
            value,
        }
    }

    /// Returns the JSON Schema.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// Checks a value. The result has only what is right, with empty values in place of required ones that are missing, so
/// that it can be read as the type of the schema and other rules can check the rest.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::schema::{Codes, check};
/// use petalflow_document_model::source::{Pointer, Report};
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "dish": { "type": "string" } }, "required": ["dish"] });
/// let codes = Codes { name: "field", unknown: Wrong, missing: Wrong, wrong: |_| Wrong, null_is_absent: true };
/// let mut report = Report(Vec::new());
/// let checked = check(&schema, &json!({}), &Pointer::root(), codes, &mut report);
/// assert_eq!(checked, json!({ "dish": "" }));
/// assert!(report.has(Wrong));
/// ```
pub fn check<C: Code>(
    schema: &Value,
    value: &Value,
    at: &Pointer,
    codes: Codes<C>,
    report: &mut Report<C>,
) -> Value {
    let mut checker = Checker {
        root: schema,
        codes,
        report,
    };
    let checked = checker.check(schema, value, at);
    checked.unwrap_or_else(|| checker.empty(schema))
}

struct Checker<'s, 'r, C> {
    root: &'s Value,
    codes: Codes<C>,
    report: &'r mut Report<C>,
}

impl<'s, C: Code> Checker<'s, '_, C> {
    fn resolve(&self, schema: &'s Value) -> &'s Value {
        resolve(self.root, schema)
    }

    /// The value without what is wrong in it, or nothing if it is wrong.
    fn check(&mut self, schema: &'s Value, value: &Value, at: &Pointer) -> Option<Value> {
        let schema = self.resolve(schema);
        if let Some(variants) = variants(schema) {
            return self.one_of(variants, value, at);
        }
        if let Some(allowed) = allowed(schema) {
            if allowed.contains(&value) {
                return Some(value.clone());
            }
            return self.wrong_choice(&allowed, value, at);
        }
        if !has_type(schema, value) {
            let hint = match value {
                Value::Number(_) | Value::Bool(_) if accepts(schema, "string") => {
                    ": put it in quotes"
                }
                _ => "",
            };
            let message = format!("{}, not {}{hint}", expected(schema), found(value));
            return self.wrong(at, message);
        }
        if let Some(problem) = too_few(schema, value) {
            self.wrong(at, problem);
        }
        match value {
            Value::Object(object) => Some(Value::Object(self.object(schema, object, at))),
            Value::Array(items) => {
                let Some(item_schema) = schema.get("items") else {
                    return Some(value.clone());
                };
                let checked = items.iter().enumerate().map(|(index, item)| {
                    let checked = self.check(item_schema, item, &at.item(index));
                    // Other rules name items by their index.
                    checked.unwrap_or_else(|| self.empty(item_schema))
                });
                Some(checked.collect())
            }
            Value::Number(number) => {
                if let Some(problem) = outside_limits(schema, number.as_f64()?) {
                    return self.wrong(at, problem);
                }
                Some(
                    if accepts(schema, "integer") && !accepts(schema, "number") {
                        whole(value)
                    } else {
                        value.clone()
                    },
                )
            }
            value => Some(value.clone()),
        }
    }

    fn object(
        &mut self,
        schema: &'s Value,
        object: &Map<String, Value>,
        at: &Pointer,
    ) -> Map<String, Value> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut checked = Map::new();
        let mut misspelt = HashSet::new();
        for (name, value) in object {
            let at = at.name(name);
            if let Some(property) = properties.and_then(|it| it.get(name)) {
                let required = is_required(schema, name);
                if value.is_null() && !required {
                    if !self.codes.null_is_absent && !self.allows_null(property) {
                        let (expected, what) = (expected(self.resolve(property)), self.codes.name);
                        let message = format!("{expected}, not `null`: leave the {what} out");
                        self.wrong(&at, message);
                    }
                    continue;
                }
                if let Some(value) = self.check(property, value, &at) {
                    if required && value == "" && min_length(self.resolve(property)) > 0 {
                        let message = format!("`{}` is empty", shown(name));
                        self.report.add(self.codes.missing, at, message);
                    }
                    checked.insert(name.clone(), value);
                }
                continue;
            }
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => {
                    let Some(meant) = self.unknown(name, properties, at.clone()) else {
                        continue;
                    };
                    // A misspelt name is one mistake: the value counts as that of the name that was meant.
                    if let Some(property) = properties.and_then(|it| it.get(meant))
                        && !object.contains_key(meant)
                        && let Some(value) = self.check(property, value, &at)
                    {
                        misspelt.insert(meant);
                        checked.insert(meant.to_owned(), value);
                    }
                }
                Some(other) if other.is_object() => {
                    if let Some(value) = self.check(other, value, &at) {
                        checked.insert(name.clone(), value);
                    }
                }
                _ => {
                    checked.insert(name.clone(), value.clone());
                }
            }
        }
        self.add_missing(schema, object, &misspelt, &mut checked, at);
        checked
    }

    fn allows_null(&self, schema: &'s Value) -> bool {
        let schema = self.resolve(schema);
        match variants(schema) {
            Some(variants) => variants.iter().any(|it| self.allows_null(it)),
            None => has_type(schema, &Value::Null),
        }
    }

    /// Reports the required names that are missing, and adds an empty value for each.
    fn add_missing(
        &mut self,
        schema: &'s Value,
        object: &Map<String, Value>,
        misspelt: &HashSet<&str>,
        checked: &mut Map<String, Value>,
        at: &Pointer,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for name in required(schema) {
            let is_absent = !object.contains_key(name) && !misspelt.contains(name);
            // Where other names are allowed, one that is almost the missing one is the mistake.
            let is_other = |it: &&String| properties.is_none_or(|known| !known.contains_key(*it));
            let mut others = object.keys().filter(is_other);
            if is_absent && let Some(other) = others.find(|it| similar(it, [name]).is_some()) {
                let message = format!(
                    "there is no {} `{}`; did you mean `{name}`?",
                    self.codes.name,
                    shown(other)
                );
                self.report
                    .add_at_name(self.codes.unknown, at.name(other), message);
            } else if is_absent {
                let message = format!("`{name}` is missing");
                self.report.add(self.codes.missing, at.name(name), message);
            }
            if !checked.contains_key(name)
                && let Some(property) = properties.and_then(|it| it.get(name))
            {
                checked.insert(name.to_owned(), self.empty(property));
            }
        }
    }

    /// The name that was probably meant.
    fn unknown(
        &mut self,
        name: &str,
        known: Option<&'s Map<String, Value>>,
        at: Pointer,
    ) -> Option<&'s str> {
        let known = known.into_iter().flat_map(Map::keys).map(String::as_str);
        let meant = similar(name, known);
        let hint = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
        let what = self.codes.name;
        let message = format!("there is no {what} `{}`{hint}", shown(name));
        self.report.add_at_name(self.codes.unknown, at, message);
        meant
    }

    /// A value of one of several forms.
    fn one_of(&mut self, variants: &'s [Value], value: &Value, at: &Pointer) -> Option<Value> {
        let variants: Vec<&'s Value> = variants.iter().map(|it| self.resolve(it)).collect();
        if let Some(tag) = tag(&variants) {
            return self.tagged(&variants, tag, value, at);
        }
        let constants: Vec<&Value> = variants
            .iter()
            .copied()
            .filter_map(allowed)
            .flatten()
            .collect();
        if constants.contains(&value) {
            return Some(value.clone());
        }
        if constants.len() >= variants.len() {
            return self.wrong_choice(&constants, value, at);
        }
        let fitting: Vec<&'s Value> = variants
            .iter()
            .copied()
            .filter(|it| variants_or_type(it, value))
            .collect();
        match fitting.as_slice() {
            [] => {
                let mut kinds: Vec<String> = Vec::new();
                let variants = variants.iter().filter(|it| !accepts(it, "null"));
                for kind in variants.map(|it| expected_short(it)) {
                    // Several forms may be objects.
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                }
                let message = format!("expected {}, not {}", kinds.join(" or "), found(value));
                self.wrong(at, message)
            }
            [only] => self.check(only, value, at),
            [first, rest @ ..] => {
                for variant in [&[*first], rest].concat() {
                    let mut quiet = Report::default();
                    let mut checker = Checker {
                        root: self.root,
                        codes: self.codes,
                        report: &mut quiet,
                    };
                    let checked = checker.check(variant, value, at);
                    if quiet.0.is_empty() {
                        return checked;
                    }
                }
                // The form that was meant is the first whose fields are all there.
                let names = || value.as_object().into_iter().flat_map(Map::keys);
                let has = |name: &str| {
                    value.get(name).is_some() || names().any(|it| similar(it, [name]).is_some())
                };
                let is_meant = |it: &&&'s Value| required(it).all(has);
                let meant = fitting.iter().find(is_meant).unwrap_or(first);
                self.check(meant, value, at)
            }
        }
    }

    /// A value whose form is named by one of its fields.
    fn tagged(
        &mut self,
        variants: &[&'s Value],
        tag: &str,
        value: &Value,
        at: &Pointer,
    ) -> Option<Value> {
        let Some(object) = value.as_object() else {
            return self.wrong(at, format!("expected an object, not {}", found(value)));
        };
        let Some(name) = object.get(tag) else {
            self.report.add(
                self.codes.missing,
                at.name(tag),
                format!("`{tag}` is missing"),
            );
            return None;
        };
        let constant = |variant: &&'s Value| constant(variant, tag);
        let chosen = variants
            .iter()
            .find(|variant| constant(variant) == Some(name));
        if let Some(variant) = chosen {
            return Some(Value::Object(self.object(variant, object, at)));
        }
        let names: Vec<&Value> = variants.iter().filter_map(constant).collect();
        self.wrong_choice(&names, name, &at.name(tag))
    }

    fn wrong_choice(&mut self, allowed: &[&Value], value: &Value, at: &Pointer) -> Option<Value> {
        let names: Vec<String> = allowed.iter().map(|it| plain(it)).collect();
        let suggestion = match value {
            Value::String(text) => suggestion(text, names.iter().map(String::as_str)),
            _ => String::new(),
        };
        let list = names.join("`, `");
        let message = format!("{} is not one of `{list}`{suggestion}", found(value));
        self.wrong(at, message)
    }

    fn wrong(&mut self, at: &Pointer, message: String) -> Option<Value> {
        let code = (self.codes.wrong)(at.as_str());
        self.report.add(code, at.clone(), message);
        None
    }

    /// The value that replaces a wrong or missing one.
    fn empty(&self, schema: &'s Value) -> Value {
        let schema = self.resolve(schema);
        if let Some([first, ..]) = variants(schema) {
            return self.empty(first);
        }
        if let Some(first) = allowed(schema).and_then(|allowed| allowed.first().copied()) {
            return first.clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Value::String(String::new()),
            Some("array") => Value::Array(Vec::new()),
            Some("boolean") => Value::Bool(false),
            Some("integer" | "number") => 0.into(),
            Some("object") => {
                let names = required(schema).filter_map(|name| {
                    let property = schema.get("properties")?.get(name)?;
                    Some((name.to_owned(), self.empty(property)))
                });
                Value::Object(names.collect())
            }
            _ => Value::Null,
        }
    }
}

/// Why a list or an object is too short.
fn too_few(schema: &Value, value: &Value) -> Option<String> {
    let (limit, length, what) = match value {
        Value::Array(items) => ("minItems", items.len(), "items"),
        Value::Object(object) => ("minProperties", object.len(), "entries"),
        _ => return None,
    };
    let limit = schema.get(limit).and_then(Value::as_u64)?;
    let is_short = u64::try_from(length).is_ok_and(|length| length < limit);
    is_short.then(|| format!("the number of {what} is {length}, and must be at least {limit}"))
}

/// Why a number is too small or too large.
fn outside_limits(schema: &Value, number: f64) -> Option<String> {
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (min, max) = integer_limits(schema);
    let min = limit("minimum").or(min);
    let max = limit("maximum").or(max);
    let is_outside = min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max);
    is_outside.then(|| match (min, max) {
        (Some(min), Some(max)) => format!("expected a number from {min} to {max}"),
        (Some(min), None) => format!("expected a number of at least {min}"),
        (_, max) => format!("expected a number of at most {}", max.unwrap_or_default()),
    })
}

fn is_required(schema: &Value, name: &str) -> bool {
    required(schema).any(|it| it == name)
}

fn accepts(schema: &Value, name: &str) -> bool {
    types(schema).contains(&name)
}

fn variants_or_type(schema: &Value, value: &Value) -> bool {
    variants(schema).is_some() || has_type(schema, value)
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // `5.0` is an integer, as in JSON Schema.
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        _ => true,
    };
    match schema.get("type") {
        Some(Value::String(name)) => is(name),
        Some(Value::Array(names)) if !names.is_empty() => {
            names.iter().filter_map(Value::as_str).any(is)
        }
        _ => true,
    }
}

/// `5.0` as `5`.
fn whole(value: &Value) -> Value {
    let text = value.as_f64().map(|number| format!("{number:.0}"));
    let whole = text.and_then(|text| text.parse::<i64>().ok());
    whole
        .filter(|_| value.is_f64())
        .map_or_else(|| value.clone(), Value::from)
}

fn expected(schema: &Value) -> String {
    format!("expected {}", expected_short(schema))
}

fn expected_short(schema: &Value) -> String {
    let names = types(schema).into_iter().filter(|it| *it != "null");
    let names: Vec<&str> = names
        .map(|name| match name {
            "boolean" => "`true` or `false`",
            "string" => "a text",
            "array" => "a list",
            "object" => "an object",
            "integer" => "a whole number",
            "number" => "a number",
            other => other,
        })
        .collect();
    names.join(" or ")
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "`null`".into(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("`{}`", shown(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
