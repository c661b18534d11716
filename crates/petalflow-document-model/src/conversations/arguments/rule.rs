//! The schema of a parameter, read once.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::source::Pointer;
use crate::source::names::shown;
use regex::Regex;
use serde_json::{Map, Number, Value};

use super::errors::ParameterError;
use super::format::Format;
use super::keyword::{TYPES, is_keyword, meant_keyword, nearest_type};
use super::number::compare;
use super::pattern::{self, Budget};
use crate::conversations::finding::Code;
use crate::conversations::parameters::Parameters;

/// How deep a schema may be. Documents are less deep; a schema made by code may be deeper.
const MAX_DEPTH: usize = 128;

/// What a value must be.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// Empty: any.
    pub(super) types: Vec<Type>,
    /// The values of `enum` or `const`.
    pub(super) choices: Option<Vec<Value>>,
    pub(super) number: NumberRule,
    pub(super) text: TextRule,
    pub(super) list: ListRule,
    pub(super) object: ObjectRule,
    /// Rules of which each must hold.
    pub(super) all_of: Vec<Rule>,
    /// Rules of which one must hold.
    pub(super) any_of: Vec<Rule>,
    /// Rules of which exactly one must hold.
    pub(super) one_of: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Text,
    Number,
    Integer,
    List,
    Object,
}

/// A limit of numbers.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    pub(super) number: Number,
    pub(super) is_exclusive: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct NumberRule {
    pub(super) minimum: Option<Limit>,
    pub(super) maximum: Option<Limit>,
    pub(super) multiple_of: Option<Number>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TextRule {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) pattern: Option<Regex>,
    pub(super) format: Option<Format>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ListRule {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) is_unique: bool,
    pub(super) items: Option<Box<Rule>>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ObjectRule {
    pub(super) properties: Vec<(String, Rule)>,
    pub(super) required: Vec<String>,
    pub(super) others: Others,
}

/// What may be in an object besides its properties.
#[derive(Clone, Debug, Default)]
pub(super) enum Others {
    #[default]
    Anything,
    Nothing,
    Each(Box<Rule>),
}

impl Type {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Type::Null,
            "boolean" => Type::Boolean,
            "string" => Type::Text,
            "number" => Type::Number,
            "integer" => Type::Integer,
            "array" => Type::List,
            "object" => Type::Object,
            _ => return None,
        })
    }
}

impl Rule {
    /// Reads the parameters of a function, and adds what is wrong.
    pub(super) fn of_parameters(
        parameters: &Parameters,
        at: &Pointer,
        budget: &mut Budget,
        errors: &mut Vec<ParameterError>,
    ) -> Self {
        let mut reader = Reader { budget, errors };
        let at = at.name("properties");
        let properties = parameters.properties.iter();
        let properties = properties.map(|(name, schema)| {
            let rule = reader.rule(schema, name, &at.name(name), 0);
            (name.clone(), rule)
        });
        Rule {
            types: vec![Type::Object],
            object: ObjectRule {
                properties: properties.collect(),
                required: parameters.required.clone(),
                others: Others::Anything,
            },
            ..Rule::default()
        }
    }
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

    /// The types that a schema allows; none if it allows any.
    fn types(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) -> Vec<Type> {
        let at = at.name("type");
        let names: Vec<(&Value, Pointer)> = match schema.get("type") {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(names)) => {
                let names = names.iter().enumerate();
                names.map(|(index, it)| (it, at.item(index))).collect()
            }
            Some(name) => vec![(name, at)],
        };
        let mut types = Vec::new();
        for (kind, at) in names {
            match kind.as_str().map(|it| (it, Type::parse(it))) {
                Some((_, Some(kind))) => types.push(kind),
                Some((kind, None)) => {
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
        // As OpenAPI writes it.
        if !types.is_empty() && schema.get("nullable") == Some(&Value::Bool(true)) {
            types.push(Type::Null);
        }
        types
    }

    fn rule(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) -> Rule {
        if depth >= MAX_DEPTH {
            self.wrong(
                name,
                at.clone(),
                format!("has a schema of more than {MAX_DEPTH} levels"),
            );
            return Rule::default();
        }
        self.misspelt_keywords(schema, name, at);
        let number = self.numbers(schema, name, at);
        let (min, max) = self.lengths(schema, name, at, ["minLength", "maxLength"]);
        let text = TextRule {
            min,
            max,
            pattern: self.pattern(schema, name, at),
            format: schema
                .get("format")
                .and_then(Value::as_str)
                .and_then(Format::parse),
        };
        let (min, max) = self.lengths(schema, name, at, ["minItems", "maxItems"]);
        let list = ListRule {
            min,
            max,
            is_unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
            items: self.nested(schema, "items", &format!("{name}[]"), at, depth),
        };
        Rule {
            types: self.types(schema, name, at),
            choices: self.choices(schema, name, at),
            number,
            text,
            list,
            object: self.object(schema, name, at, depth),
            all_of: self.alternatives(schema, "allOf", name, at, depth),
            any_of: self.alternatives(schema, "anyOf", name, at, depth),
            one_of: self.alternatives(schema, "oneOf", name, at, depth),
        }
    }

    fn alternatives(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) -> Vec<Rule> {
        match schema.get(keyword) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(schemas)) if !schemas.is_empty() => {
                let at = at.name(keyword);
                let schemas = schemas.iter().enumerate();
                // `true` allows anything.
                let rules = schemas.map(|(index, it)| match it.as_object() {
                    Some(schema) => self.rule(schema, name, &at.item(index), depth + 1),
                    None => Rule::default(),
                });
                rules.collect()
            }
            Some(_) => {
                let problem = format!("has `{keyword}`, which is not a list of schemas");
                self.wrong(name, at.name(keyword), problem);
                Vec::new()
            }
        }
    }

    fn choices(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
    ) -> Option<Vec<Value>> {
        if let Some(constant) = schema.get("const") {
            return Some(vec![constant.clone()]);
        }
        match schema.get("enum")? {
            Value::Array(choices) if !choices.is_empty() => {
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
                Some(choices.clone())
            }
            Value::Array(_) => {
                self.wrong(
                    name,
                    at.clone(),
                    "has an empty `enum`: no value fits".into(),
                );
                None
            }
            _ => {
                self.wrong(
                    name,
                    at.name("enum"),
                    "has an `enum` that is not a list".into(),
                );
                None
            }
        }
    }

    fn numbers(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) -> NumberRule {
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
        let multiple_of = self
            .number(schema, name, at, "multipleOf")
            .filter(|number| {
                let is_right = compare(number, &0.into()) == Ordering::Greater;
                if !is_right {
                    let problem = format!("has `multipleOf` {number}: it must be above 0");
                    self.wrong(name, at.name("multipleOf"), problem);
                }
                is_right
            });
        NumberRule {
            minimum,
            maximum,
            multiple_of,
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
    ) -> (Option<u64>, Option<u64>) {
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
        (min, max)
    }

    fn pattern(&mut self, schema: &Map<String, Value>, name: &str, at: &Pointer) -> Option<Regex> {
        let at = at.name("pattern");
        match schema.get("pattern")? {
            Value::Null => None,
            Value::String(text) => match pattern::compile(text, self.budget) {
                Ok(pattern) => Some(pattern),
                Err(problem) => {
                    let shown = shown(text);
                    self.wrong(name, at, format!("has the pattern `{shown}`, {problem}"));
                    None
                }
            },
            _ => {
                self.wrong(name, at, "has a `pattern` that is not a text".into());
                None
            }
        }
    }

    fn nested(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) -> Option<Box<Rule>> {
        let schema = schema.get(keyword)?.as_object()?;
        Some(Box::new(self.rule(
            schema,
            name,
            &at.name(keyword),
            depth + 1,
        )))
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        name: &str,
        at: &Pointer,
        depth: usize,
    ) -> ObjectRule {
        let properties_at = at.name("properties");
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties
            .into_iter()
            .flatten()
            .filter_map(|(property, schema)| {
                let path = format!("{name}.{property}");
                let rule = self.rule(
                    schema.as_object()?,
                    &path,
                    &properties_at.name(property),
                    depth + 1,
                );
                Some((property.clone(), rule))
            });
        let properties = properties.collect();
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let others = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => Others::Nothing,
            Some(Value::Object(_)) => {
                let rule = self.nested(
                    schema,
                    "additionalProperties",
                    &format!("{name}.*"),
                    at,
                    depth,
                );
                rule.map_or(Others::Anything, Others::Each)
            }
            _ => Others::Anything,
        };
        ObjectRule {
            properties,
            required: required.map(str::to_owned).collect(),
            others,
        }
    }
}
