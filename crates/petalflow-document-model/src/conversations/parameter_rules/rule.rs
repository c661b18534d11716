//! What is wrong with the schema of a parameter.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::source::Pointer;
use crate::source::names::shown;
use serde_json::{Map, Number, Value};

use super::keyword::{TYPES, is_keyword, meant_keyword, nearest_type};
use super::number::compare;
use super::pattern::{self, Budget};
use crate::conversations::finding::Code;
use crate::conversations::parameters::Parameters;

/// How deep a schema may be. Documents are less deep; a schema made by code may be deeper.
const MAX_DEPTH: usize = 128;

/// A mistake in the schema of a parameter.
pub(crate) struct ParameterError {
    /// The value in the schema.
    pub(crate) pointer: Pointer,
    /// The parameter, such as `address.zip`.
    pub(crate) parameter: String,
    /// What is wrong, without the name of the parameter.
    pub(crate) problem: String,
    pub(crate) code: Code,
}

/// Finds what is wrong with the parameters of a function at a place in a document: patterns that cannot be read or that are
/// too large, limits that contradict each other, keywords with a value of the wrong type.
pub(crate) fn parameter_errors(
    parameters: &Parameters,
    at: &Pointer,
    budget: &mut Budget,
) -> Vec<ParameterError> {
    let mut errors = Vec::new();
    let mut reader = Reader {
        budget,
        errors: &mut errors,
    };
    let at = at.name("properties");
    for (name, schema) in &parameters.properties {
        reader.schema(schema, name, &at.name(name), 0);
    }
    errors
}

/// A limit of numbers.
struct Limit {
    number: Number,
    is_exclusive: bool,
}

struct Reader<'r> {
    budget: &'r mut Budget,
    errors: &'r mut Vec<ParameterError>,
}

impl Reader<'_> {
    fn wrong(&mut self, parameter: &str, at: Pointer, problem: String) {
        self.add(Code::BadParameter, parameter, at, problem);
    }

    fn add(&mut self, code: Code, parameter: &str, at: Pointer, problem: String) {
        self.errors.push(ParameterError {
            pointer: at,
            parameter: parameter.into(),
            problem,
            code,
        });
    }

    fn misspelt_keywords(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) {
        for keyword in schema.keys() {
            if is_keyword(keyword) {
                continue;
            }
            let Some(rest) = self.budget.names.checked_sub(1) else {
                return;
            };
            self.budget.names = rest;
            if let Some(meant) = meant_keyword(keyword, schema) {
                let problem = format!(
                    "has the unknown field `{}`; did you mean `{meant}`?",
                    shown(keyword)
                );
                self.add(Code::UnknownField, name, at.name(keyword), problem);
            }
        }
    }

    fn types(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) {
        let at = at.name("type");
        let names: Vec<(&Value, Pointer)> = match schema.get("type") {
            None | Some(Value::Null) => return,
            Some(Value::Array(names)) => {
                let names = names.iter().enumerate();
                names.map(|(index, it)| (it, at.item(index))).collect()
            }
            Some(name) => vec![(name, at)],
        };
        for (kind, at) in names {
            match kind.as_str() {
                Some(kind) if TYPES.contains(&kind) => {}
                Some(kind) => {
                    let problem = format!(
                        "has the type '{}', which JSON Schema does not have{} ({})",
                        shown(kind),
                        nearest_type(kind),
                        TYPES[..6].join(", ")
                    );
                    self.add(Code::UnknownType, name, at, problem);
                }
                None => self.wrong(name, at, "has a `type` that is not a text".into()),
            }
        }
    }

    fn schema(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer, depth: usize) {
        if depth >= MAX_DEPTH {
            self.wrong(
                name,
                at.clone(),
                format!("has a schema of more than {MAX_DEPTH} levels"),
            );
            return;
        }
        self.misspelt_keywords(schema, name, at);
        self.numbers(schema, name, at);
        self.lengths(schema, name, at, ["minLength", "maxLength"]);
        self.pattern(schema, name, at);
        self.lengths(schema, name, at, ["minItems", "maxItems"]);
        self.nested(schema, "items", &format!("{name}[]"), at, depth);
        self.types(schema, name, at);
        self.choices(schema, name, at);
        self.properties(schema, name, at, depth);
        for keyword in ["allOf", "anyOf", "oneOf"] {
            self.alternatives(schema, keyword, name, at, depth);
        }
    }

    fn alternatives(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) {
        match schema.get(keyword) {
            None | Some(Value::Null) => {}
            Some(Value::Array(schemas)) if !schemas.is_empty() => {
                let at = at.name(keyword);
                for (index, schema) in schemas.iter().enumerate() {
                    // `true` allows anything.
                    if let Some(schema) = schema.as_object() {
                        self.schema(schema, name, &at.item(index), depth + 1);
                    }
                }
            }
            Some(_) => {
                let problem = format!("has `{keyword}`, which is not a list of schemas");
                self.wrong(name, at.name(keyword), problem);
            }
        }
    }

    fn choices(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) {
        match schema.get("enum") {
            None => {}
            Some(Value::Array(choices)) if !choices.is_empty() => {
                let mut seen = HashSet::new();
                for (index, choice) in choices.iter().enumerate() {
                    if !seen.insert(choice.to_string()) {
                        let problem = format!(
                            "has `{}` twice in its `enum`: remove one of them",
                            choice.as_str().map_or_else(|| choice.to_string(), shown)
                        );
                        self.wrong(name, at.name("enum").item(index), problem);
                    }
                }
            }
            Some(Value::Array(_)) => self.wrong(
                name,
                at.clone(),
                "has an empty `enum`: no value fits".into(),
            ),
            Some(_) => self.wrong(
                name,
                at.name("enum"),
                "has an `enum` that is not a list".into(),
            ),
        }
    }

    fn numbers(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) {
        let minimum = self.limit(
            schema,
            name,
            at,
            ["minimum", "exclusiveMinimum"],
            Ordering::Greater,
        );
        let maximum = self.limit(
            schema,
            name,
            at,
            ["maximum", "exclusiveMaximum"],
            Ordering::Less,
        );
        if let (Some(min), Some(max)) = (&minimum, &maximum) {
            let (low, high) = (&min.number, &max.number);
            match compare(low, high) {
                Ordering::Greater => self.wrong(
                    name,
                    at.clone(),
                    format!("has the minimum {low} above its maximum {high}: no number fits"),
                ),
                Ordering::Equal if min.is_exclusive || max.is_exclusive => self.wrong(
                    name,
                    at.clone(),
                    format!("has limits between which there is no number: {low} is excluded"),
                ),
                _ => {}
            }
        }
        if let Some(number) = self.number(schema, name, at, "multipleOf")
            && compare(&number, &0.into()) != Ordering::Greater
        {
            let problem = format!("has `multipleOf` {number}: it must be above 0");
            self.wrong(name, at.name("multipleOf"), problem);
        }
    }

    /// The stricter one of an inclusive and an exclusive limit. In older drafts the exclusive one is a truth value.
    fn limit(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
        [inclusive, exclusive]: [&str; 2],
        stricter: Ordering,
    ) -> Option<Limit> {
        let of_inclusive = self.number(schema, name, at, inclusive);
        let (number, is_exclusive) = match schema.get(exclusive) {
            Some(Value::Bool(is_exclusive)) => (None, *is_exclusive),
            _ => (self.number(schema, name, at, exclusive), false),
        };
        match (of_inclusive, number) {
            (Some(inclusive), Some(exclusive)) => {
                let order = compare(&inclusive, &exclusive);
                let is_exclusive = order != stricter;
                Some(Limit {
                    number: if is_exclusive { exclusive } else { inclusive },
                    is_exclusive,
                })
            }
            (Some(number), None) => Some(Limit {
                number,
                is_exclusive,
            }),
            (None, Some(number)) => Some(Limit {
                number,
                is_exclusive: true,
            }),
            (None, None) => None,
        }
    }

    fn number(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
        keyword: &str,
    ) -> Option<Number> {
        match schema.get(keyword)? {
            Value::Number(number) => Some(number.clone()),
            Value::Null => None,
            _ => {
                self.wrong(
                    name,
                    at.name(keyword),
                    format!("has `{keyword}`, which is not a number"),
                );
                None
            }
        }
    }

    fn lengths(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
        [min_keyword, max_keyword]: [&str; 2],
    ) {
        let mut length = |keyword: &str| match schema.get(keyword)? {
            Value::Null => None,
            // `2.0` is a length, as in JSON Schema.
            Value::Number(number) => super::number::whole(number)
                .and_then(|it| it.as_u64())
                .or_else(|| {
                    let problem = format!(
                        "has `{keyword}` {number}: it must be a whole number of at least 0"
                    );
                    self.wrong(name, at.name(keyword), problem);
                    None
                }),
            _ => {
                self.wrong(
                    name,
                    at.name(keyword),
                    format!("has `{keyword}`, which is not a number"),
                );
                None
            }
        };
        let (min, max) = (length(min_keyword), length(max_keyword));
        if let (Some(low), Some(high)) = (min, max)
            && low > high
        {
            let problem =
                format!("has `{min_keyword}` {low} above `{max_keyword}` {high}: no value fits");
            self.wrong(name, at.clone(), problem);
        }
    }

    fn pattern(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) {
        let at = at.name("pattern");
        match schema.get("pattern") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                if let Err(problem) = pattern::check(text, self.budget) {
                    let shown = shown(text);
                    self.wrong(name, at, format!("has the pattern `{shown}`, {problem}"));
                }
            }
            Some(_) => self.wrong(name, at, "has a `pattern` that is not a text".into()),
        }
    }

    fn nested(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) {
        if let Some(schema) = schema.get(keyword).and_then(Value::as_object) {
            self.schema(schema, name, &at.name(keyword), depth + 1);
        }
    }

    fn properties(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer, depth: usize) {
        let properties_at = at.name("properties");
        let properties = schema.get("properties").and_then(Value::as_object);
        for (property, schema) in properties.into_iter().flatten() {
            if let Some(schema) = schema.as_object() {
                let path = format!("{name}.{property}");
                self.schema(schema, &path, &properties_at.name(property), depth + 1);
            }
        }
        let name = format!("{name}.*");
        self.nested(schema, "additionalProperties", &name, at, depth);
    }
}
