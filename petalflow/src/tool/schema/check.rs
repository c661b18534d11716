//! What of a value does not fit a schema.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Number, Value};

use super::path::Path;

/// The maximum depth of the search. Only recursive schemas are deeper.
const DEEPEST: usize = 64;

/// The most comparisons of a value with a schema. Alternatives that are recursive could otherwise take for ever.
const MOST_COMPARISONS: usize = 100_000;

/// The most mistakes that a text lists.
const MOST_LISTED: usize = 10;

/// The longest value in a text, in bytes.
const LONGEST_VALUE: usize = 80;

/// What of a value does not fit a schema: all of it, with the values. The text is for a model, which corrects them.
///
/// ```
/// use petalflow::tool::schema;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": {
///     "name": { "type": "string" }, "sure": { "type": "number", "maximum": 1 },
/// }, "required": ["name"] });
/// let mistakes = schema::check(&schema, &json!({ "sure": 7.5 }));
/// assert_eq!(mistakes.to_string(), "`sure` is 7.5, and must be at most 1; `name` is missing");
/// assert!(schema::check(&schema, &json!({ "name": "rose", "sure": 0.5 })).is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mistakes(Vec<Mistake>);

#[derive(Clone, Debug, PartialEq)]
struct Mistake {
    text: String,
    /// Whether the value has the right form, and is beyond a limit. serde does not see such mistakes.
    is_limit: bool,
}

impl Mistakes {
    /// Whether the value fits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of mistakes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Only the values that have the right form, and are beyond a limit: of a number, of a length, a pattern, or items that
    /// must differ. A type can accept other forms than its schema says, and does not check limits.
    #[must_use]
    pub fn limits(mut self) -> Self {
        self.0.retain(|mistake| mistake.is_limit);
        self
    }
}

/// The mistakes, in the order of the schema. Of more than ten, the first ten and the number of the others.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.0.iter().take(MOST_LISTED).enumerate() {
            let between = if index > 0 { "; " } else { "" };
            write!(f, "{between}{}", mistake.text)?;
        }
        match self.0.len().saturating_sub(MOST_LISTED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Compares a value with a JSON Schema (draft 2020-12): types, `required`, `enum`, `const`, `additionalProperties: false`, the
/// limits of numbers, texts and lists, and patterns, in all parts of the value. Other keywords, and patterns that cannot be
/// read, are not checked. Neither is what is left after 100,000 comparisons.
///
/// ```
/// use petalflow::tool::schema;
/// use serde_json::json;
///
/// let list = json!({ "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" }, "maxItems": 2 });
/// let mistakes = schema::check(&list, &json!(["a", "B", "c"]));
/// assert_eq!(mistakes.len(), 2);
/// ```
pub fn check(schema: &Value, value: &Value) -> Mistakes {
    let mut found = Mistakes::default();
    let checked = Checked {
        root: schema,
        depth: 0,
        comparisons: &Cell::new(0),
    };
    checked.value(schema, value, &Path::Root, &mut found);
    found
}

/// A search in a schema.
#[derive(Clone, Copy)]
struct Checked<'s> {
    root: &'s Value,
    depth: usize,
    comparisons: &'s Cell<usize>,
}

impl<'s> Checked<'s> {
    fn value(self, schema: &'s Value, value: &Value, path: &Path<'_>, found: &mut Mistakes) {
        let Value::Object(keywords) = schema else {
            return;
        };
        let comparisons = self.comparisons.get();
        if self.depth > DEEPEST || comparisons == MOST_COMPARISONS {
            return;
        }
        self.comparisons.set(comparisons + 1);
        if let Some(expected) = keywords.get("type")
            && !has_type(expected, value)
        {
            let expected = type_names(expected);
            // Its other mistakes follow from this one.
            return found.add(path, value, format_args!("must be {expected}"), false);
        }
        let inner = Checked {
            depth: self.depth + 1,
            ..self
        };
        for (keyword, expected) in keywords {
            match (keyword.as_str(), value) {
                ("const", _) if value != expected => {
                    let expected = show(expected);
                    found.add(path, value, format_args!("must be {expected}"), false);
                }
                ("enum", _) => one_of(expected, value, path, found),
                ("$ref", _) => {
                    if let Some(target) = self.target(expected) {
                        inner.value(target, value, path, found);
                    }
                }
                ("allOf", _) => {
                    for part in expected.as_array().into_iter().flatten() {
                        inner.value(part, value, path, found);
                    }
                }
                ("anyOf" | "oneOf", _) => inner.alternatives(expected, value, path, found),
                (keyword, Value::Number(number)) => {
                    limit_of_number(keyword, expected, number, path, found);
                }
                (keyword, Value::String(text)) => {
                    limit_of_text(keyword, expected, text, path, found);
                }
                ("items", Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        inner.value(expected, item, &Path::Item(path, index), found);
                    }
                }
                (keyword, Value::Array(items)) => {
                    limit_of_list(keyword, expected, items, path, found);
                }
                (keyword, Value::Object(fields)) => {
                    inner.object(keyword, expected, keywords, fields, path, found);
                }
                _ => {}
            }
        }
    }

    /// What a reference leads to.
    fn target(self, reference: &Value) -> Option<&'s Value> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    /// Whether a field says that the value is of another alternative: the constant of an enum's variant.
    fn is_other(self, alternative: &'s Value, value: &Value) -> bool {
        let target = alternative.get("$ref").and_then(|it| self.target(it));
        let properties = target.unwrap_or(alternative).get("properties");
        let mut properties = properties.and_then(Value::as_object).into_iter().flatten();
        properties.any(|(name, schema)| {
            let constant = schema.get("const");
            constant.is_some_and(|constant| value.get(name).is_some_and(|field| field != constant))
        })
    }

    /// The value fits one of these. Only where it is clear which one is meant, its mistakes are told.
    fn alternatives(
        self,
        alternatives: &'s Value,
        value: &Value,
        path: &Path<'_>,
        found: &mut Mistakes,
    ) {
        let is_null = |it: &&Value| it.get("type").is_some_and(|it| it == "null");
        let alternatives = alternatives.as_array().into_iter().flatten();
        let mut possible: Vec<&Value> = alternatives
            .filter(|it| value.is_null() || !is_null(it))
            .collect();
        let is_named = |it: &&Value| !self.is_other(it, value);
        if possible.iter().any(is_named) {
            possible.retain(is_named);
        }
        let mut each: Vec<Mistakes> = possible
            .into_iter()
            .map(|alternative| {
                let mut mistakes = Mistakes::default();
                self.value(alternative, value, path, &mut mistakes);
                mistakes
            })
            .collect();
        let is_of_form = |it: &Mistakes| it.0.iter().all(|mistake| mistake.is_limit);
        let meant = match &each[..] {
            [_] => Some(0),
            each => each
                .iter()
                .position(Mistakes::is_empty)
                .or_else(|| each.iter().position(is_of_form)),
        };
        match meant {
            Some(index) => found.0.append(&mut each[index].0),
            None if each.is_empty() => {}
            None => found.add(
                path,
                value,
                format_args!("has none of the forms of its schema"),
                false,
            ),
        }
    }

    fn object(
        self,
        keyword: &str,
        expected: &'s Value,
        keywords: &'s Map<String, Value>,
        fields: &Map<String, Value>,
        path: &Path<'_>,
        found: &mut Mistakes,
    ) {
        match keyword {
            "properties" => {
                for (name, schema) in expected.as_object().into_iter().flatten() {
                    if let Some(field) = fields.get(name) {
                        self.value(schema, field, &Path::Field(path, name), found);
                    }
                }
            }
            "required" => {
                let names = expected.as_array().into_iter().flatten();
                for name in names.filter_map(Value::as_str) {
                    if !fields.contains_key(name) {
                        found.add_text(format!("{} is missing", Path::Field(path, name)), false);
                    }
                }
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                for (name, field) in fields {
                    if known.is_some_and(|known| known.contains_key(name)) {
                        continue;
                    }
                    let path = Path::Field(path, name);
                    match expected {
                        Value::Bool(false) => {
                            found.add_text(format!("{path} is not in the schema"), false);
                        }
                        schema => self.value(schema, field, &path, found),
                    }
                }
            }
            _ => {}
        }
    }
}

impl Mistakes {
    fn add(&mut self, path: &Path<'_>, value: &Value, must: fmt::Arguments<'_>, is_limit: bool) {
        self.add_text(format!("{path} is {}, and {must}", show(value)), is_limit);
    }

    fn add_text(&mut self, text: String, is_limit: bool) {
        self.0.push(Mistake { text, is_limit });
    }
}

fn has_type(expected: &Value, value: &Value) -> bool {
    let is = |name: &str| match (name, value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        // `3.0` is an integer.
        ("integer", Value::Number(number)) => number.as_f64().is_some_and(|it| it.fract() == 0.0),
        _ => false,
    };
    match expected {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

fn type_names(expected: &Value) -> String {
    let words = |name: &str| match name {
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "an object",
        _ => "`null`",
    };
    match expected {
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).map(words);
            names.collect::<Vec<_>>().join(" or ")
        }
        name => words(name.as_str().unwrap_or_default()).into(),
    }
}

fn one_of(expected: &Value, value: &Value, path: &Path<'_>, found: &mut Mistakes) {
    let values = expected.as_array().map(Vec::as_slice).unwrap_or_default();
    if !values.contains(value) {
        let values: Vec<String> = values.iter().map(show).collect();
        let values = values.join(", ");
        found.add(path, value, format_args!("must be one of {values}"), false);
    }
}

fn limit_of_number(
    keyword: &str,
    limit: &Value,
    number: &Number,
    path: &Path<'_>,
    found: &mut Mistakes,
) {
    let (Some(bound), Some(value)) = (limit.as_f64(), number.as_f64()) else {
        return;
    };
    let (holds, must) = match keyword {
        "minimum" => (value >= bound, "at least"),
        "maximum" => (value <= bound, "at most"),
        "exclusiveMinimum" => (value > bound, "more than"),
        "exclusiveMaximum" => (value < bound, "less than"),
        "multipleOf" => {
            let times = value / bound;
            ((times - times.round()).abs() < 1e-9, "a multiple of")
        }
        _ => return,
    };
    if !holds {
        let value = Value::Number(number.clone());
        found.add(path, &value, format_args!("must be {must} {limit}"), true);
    }
}

fn limit_of_text(keyword: &str, limit: &Value, text: &str, path: &Path<'_>, found: &mut Mistakes) {
    let value = || Value::from(text);
    match (keyword, limit) {
        ("minLength", Value::Number(_)) => {
            let count = text.chars().count();
            if limit.as_u64().is_some_and(|limit| (count as u64) < limit) {
                let must = format_args!("must have at least {limit} characters, not {count}");
                found.add(path, &value(), must, true);
            }
        }
        ("maxLength", Value::Number(_)) => {
            let count = text.chars().count();
            if limit.as_u64().is_some_and(|limit| count as u64 > limit) {
                let must = format_args!("must have at most {limit} characters, not {count}");
                found.add(path, &value(), must, true);
            }
        }
        ("pattern", Value::String(pattern)) => {
            let regex = regex_lite::Regex::new(pattern);
            if regex.is_ok_and(|regex| !regex.is_match(text)) {
                found.add(path, &value(), format_args!("must match `{pattern}`"), true);
            }
        }
        _ => {}
    }
}

fn limit_of_list(
    keyword: &str,
    limit: &Value,
    items: &[Value],
    path: &Path<'_>,
    found: &mut Mistakes,
) {
    let count = items.len();
    let bound = limit.as_u64();
    let must = match keyword {
        "minItems" if bound.is_some_and(|bound| (count as u64) < bound) => "at least",
        "maxItems" if bound.is_some_and(|bound| count as u64 > bound) => "at most",
        "uniqueItems" if *limit == Value::Bool(true) => {
            let mut seen = HashSet::new();
            for item in items {
                if !seen.insert(item.to_string()) {
                    let text =
                        format!("{path} has {} twice, and its items must differ", show(item));
                    return found.add_text(text, true);
                }
            }
            return;
        }
        _ => return,
    };
    found.add_text(
        format!("{path} must have {must} {limit} items, not {count}"),
        true,
    );
}

/// A value in a text, as JSON.
fn show(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= LONGEST_VALUE {
        return text;
    }
    format!("{}…", &text[..text.floor_char_boundary(LONGEST_VALUE)])
}

#[cfg(test)]
mod tests {
    use super::check;
    use serde_json::{Value, json};

    fn mistakes(schema: &Value, value: &Value) -> String {
        check(schema, value).to_string()
    }

    #[test]
    fn each_limit_is_told_with_its_value() {
        for (schema, value, expected) in [
            (
                json!({ "minimum": 1 }),
                json!(0),
                "the value is 0, and must be at least 1",
            ),
            (
                json!({ "maximum": 1 }),
                json!(7.5),
                "the value is 7.5, and must be at most 1",
            ),
            (
                json!({ "exclusiveMinimum": 1 }),
                json!(1),
                "the value is 1, and must be more than 1",
            ),
            (
                json!({ "exclusiveMaximum": 1 }),
                json!(1),
                "the value is 1, and must be less than 1",
            ),
            (
                json!({ "multipleOf": 0.1 }),
                json!(0.25),
                "the value is 0.25, and must be a multiple of 0.1",
            ),
            (
                json!({ "minLength": 3 }),
                json!("öé"),
                r#"the value is "öé", and must have at least 3 characters, not 2"#,
            ),
            (
                json!({ "maxLength": 1 }),
                json!("öé"),
                r#"the value is "öé", and must have at most 1 characters, not 2"#,
            ),
            (
                json!({ "pattern": "^[a-z]+$" }),
                json!("A"),
                r#"the value is "A", and must match `^[a-z]+$`"#,
            ),
            (
                json!({ "minItems": 1 }),
                json!([]),
                "the value must have at least 1 items, not 0",
            ),
            (
                json!({ "maxItems": 1 }),
                json!([1, 2]),
                "the value must have at most 1 items, not 2",
            ),
            (
                json!({ "uniqueItems": true }),
                json!([1, 2, 1]),
                "the value has 1 twice, and its items must differ",
            ),
        ] {
            assert_eq!(mistakes(&schema, &value), expected);
            assert_eq!(check(&schema, &value).limits().len(), 1, "{schema}");
        }
        let fits = json!({ "minimum": 1, "multipleOf": 0.1, "maxLength": 2, "pattern": "(", "uniqueItems": true });
        for value in [json!(1), json!(1.3), json!("öé"), json!([1, 2])] {
            assert_eq!(mistakes(&fits, &value), "");
        }
    }

    #[test]
    fn each_mistake_of_the_form_is_told() {
        let schema = json!({
            "additionalProperties": false,
            "properties": {
                "a": { "type": "integer" },
                "c": { "enum": ["x", "y"] },
                "d": { "type": ["string", "null"] },
            },
            "required": ["a", "b"],
            "type": "object",
        });
        let found = check(&schema, &json!({ "a": "1", "c": "z", "d": 1, "e": 2 }));
        assert_eq!(
            found.to_string(),
            r#"`e` is not in the schema; `a` is "1", and must be a whole number; `c` is "z", and must be one of "x", "y"; `d` is 1, and must be a text or `null`; `b` is missing"#
        );
        assert!(found.limits().is_empty());
        assert_eq!(
            mistakes(&schema, &json!({ "a": 3.0, "b": 0 })),
            "`b` is not in the schema"
        );
    }

    #[test]
    fn parts_of_a_value_have_their_places() {
        let schema = json!({
            "$defs": { "point": { "type": "object", "properties": { "x": { "maximum": 9 } } } },
            "allOf": [{ "required": ["points"] }],
            "properties": {
                "by name": { "additionalProperties": { "$ref": "#/$defs/point" } },
                "points": { "type": "array", "items": { "$ref": "#/$defs/point" } },
            },
        });
        let value = json!({ "points": [{ "x": 1 }, { "x": 10 }], "by name": { "p": { "x": 11 } } });
        assert_eq!(
            mistakes(&schema, &value),
            "`by name.p.x` is 11, and must be at most 9; `points[1].x` is 10, and must be at most 9"
        );
    }

    #[test]
    fn the_mistakes_of_the_alternative_that_is_meant_are_told() {
        let schema = json!({ "anyOf": [{ "type": "null" }, { "type": "integer", "maximum": 9 }] });
        assert_eq!(mistakes(&schema, &Value::Null), "");
        assert_eq!(mistakes(&schema, &json!(3)), "");
        assert_eq!(
            mistakes(&schema, &json!(10)),
            "the value is 10, and must be at most 9"
        );
        assert_eq!(check(&schema, &json!(10)).limits().len(), 1);
        assert!(check(&schema, &json!("x")).limits().is_empty());
        assert_eq!(
            mistakes(&schema, &json!("x")),
            r#"the value is "x", and must be a whole number"#
        );
        let forms = json!({ "oneOf": [
            { "required": ["a"], "properties": { "kind": { "const": "a" } } },
            { "required": ["b"], "properties": { "kind": { "const": "b" }, "b": { "maximum": 9 } } },
        ] });
        assert_eq!(mistakes(&forms, &json!({ "kind": "b", "b": 1 })), "");
        assert_eq!(
            mistakes(&forms, &json!({ "kind": "b", "b": 10 })),
            "`b` is 10, and must be at most 9"
        );
        assert_eq!(mistakes(&forms, &json!({ "kind": "b" })), "`b` is missing");
        assert_eq!(
            mistakes(&forms, &json!({ "kind": "c" })),
            r#"the value is {"kind":"c"}, and has none of the forms of its schema"#
        );
    }

    #[test]
    fn a_recursive_schema_and_many_mistakes_end() {
        let schema = json!({ "$ref": "#" });
        assert_eq!(mistakes(&schema, &json!(1)), "");
        let schema = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }] });
        assert_eq!(mistakes(&schema, &json!(1)), "");
        let child = json!({ "properties": { "child": { "$ref": "#" }, "n": { "maximum": 9 } } });
        let schema = json!({ "anyOf": [child, child, child, child] });
        let mut value = json!({ "n": 10 });
        for _ in 0..20 {
            value = json!({ "child": value });
        }
        // It ends.
        check(&schema, &value);
        let schema = json!({ "items": { "maximum": 0 } });
        let text = mistakes(&schema, &json!([1; 12].to_vec()));
        assert!(text.ends_with("; and 2 more"), "{text}");
    }
}
