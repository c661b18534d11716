//! Checks values with rules.

use std::cmp::Ordering;

use crate::source::names::{shown, suggestion};
use serde_json::{Map, Value};

use super::errors::ArgumentErrors;
use super::number::{compare, is_multiple, is_whole, whole};
use super::rule::{Limit, ListRule, NumberRule, ObjectRule, Others, Rule, TextRule, Type};

/// How many problems are named. A model corrects these first.
const MAX_PROBLEMS: usize = 10;

/// How many alternatives are named.
const MAX_ALTERNATIVES: usize = 5;

/// How many values of an `enum` are named.
const MAX_CHOICES: usize = 30;

pub(super) fn check(rule: &Rule, mut arguments: Value) -> Result<Value, ArgumentErrors> {
    let mut problems = Problems(Vec::new());
    problems.check(rule, &mut arguments, &Place::Arguments);
    if problems.0.is_empty() {
        Ok(arguments)
    } else {
        Err(ArgumentErrors(problems.0))
    }
}

/// A value in the arguments. It is written only if something is wrong.
enum Place<'p> {
    Arguments,
    Name(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn path(&self) -> String {
        match self {
            Place::Arguments => String::new(),
            Place::Name(Place::Arguments, name) => shown(name),
            Place::Name(parent, name) => format!("{}.{}", parent.path(), shown(name)),
            Place::Item(parent, index) => format!("{}[{index}]", parent.path()),
        }
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Arguments => f.write_str("the arguments"),
            place => write!(f, "`{}`", place.path()),
        }
    }
}

struct Problems(Vec<String>);

impl Problems {
    fn add(&mut self, problem: impl FnOnce() -> String) {
        if self.0.len() < MAX_PROBLEMS {
            self.0.push(problem());
        }
    }

    /// Checks a value and brings it into the form that code reads.
    fn check(&mut self, rule: &Rule, value: &mut Value, place: &Place<'_>) {
        if let Some(choices) = &rule.choices {
            if !choices.iter().any(|choice| is_equal(choice, value)) {
                self.add(|| wrong_choice(choices, value, place));
            }
            return;
        }
        if !has_type(&rule.types, value) {
            self.add(|| {
                format!(
                    "{place} must be {}, not {}",
                    expected(&rule.types),
                    found(value)
                )
            });
            return;
        }
        self.alternatives(rule, value, place);
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if rule.types.contains(&Type::Integer) && !rule.types.contains(&Type::Number) {
                    *number = whole(number).unwrap_or_else(|| number.clone());
                }
                self.number(&rule.number, number, place);
            }
            Value::String(text) => self.text(&rule.text, text, place),
            Value::Array(items) => self.list(&rule.list, items, place),
            Value::Object(fields) => self.object(&rule.object, fields, place),
        }
    }

    fn alternatives(&mut self, rule: &Rule, value: &mut Value, place: &Place<'_>) {
        for rule in &rule.all_of {
            self.check(rule, value, place);
        }
        for (rules, is_exact) in [(&rule.any_of, false), (&rule.one_of, true)] {
            if rules.is_empty() {
                continue;
            }
            let mut fitting = None;
            let mut problems: Vec<String> = Vec::new();
            for rule in rules {
                let mut tried = value.clone();
                let mut quiet = Problems(Vec::new());
                quiet.check(rule, &mut tried, place);
                if let Some(problem) = quiet.0.into_iter().next() {
                    problems.push(problem);
                } else if fitting.is_some() {
                    self.add(|| {
                        format!("{place} must fit only one of its alternatives, and fits several")
                    });
                    return;
                } else {
                    fitting = Some(tried);
                    if !is_exact {
                        break;
                    }
                }
            }
            match fitting {
                Some(fitting) => *value = fitting,
                None => self.add(|| {
                    problems.dedup();
                    problems.truncate(MAX_ALTERNATIVES);
                    problems.join(", or ")
                }),
            }
        }
    }

    fn number(&mut self, rule: &NumberRule, number: &serde_json::Number, place: &Place<'_>) {
        let mut limit =
            |limit: &Option<Limit>, beyond: Ordering, [inclusive, exclusive]: [&str; 2]| {
                let Some(limit) = limit else { return };
                let order = compare(number, &limit.number);
                if order == beyond || (limit.is_exclusive && order == Ordering::Equal) {
                    let word = if limit.is_exclusive {
                        exclusive
                    } else {
                        inclusive
                    };
                    self.add(|| format!("{place} must be {word} {}, not {number}", limit.number));
                }
            };
        limit(&rule.minimum, Ordering::Less, ["at least", "above"]);
        limit(&rule.maximum, Ordering::Greater, ["at most", "below"]);
        if let Some(of) = &rule.multiple_of
            && !is_multiple(number, of)
        {
            self.add(|| format!("{place} must be a multiple of {of}, not {number}"));
        }
    }

    fn text(&mut self, rule: &TextRule, text: &str, place: &Place<'_>) {
        if rule.min.is_some() || rule.max.is_some() {
            self.length(
                (rule.min, rule.max),
                text.chars().count(),
                "characters",
                place,
            );
        }
        if let Some(pattern) = &rule.pattern
            && !pattern.is_match(text)
        {
            self.add(|| {
                format!(
                    "{place} must match the pattern `{pattern}`, and `{}` does not",
                    shown(text)
                )
            });
        }
        if let Some(format) = rule.format
            && !format.fits(text)
        {
            self.add(|| {
                format!(
                    "{place} must be {}, and `{}` is not",
                    format.expected(),
                    shown(text)
                )
            });
        }
    }

    fn length(
        &mut self,
        (min, max): (Option<u64>, Option<u64>),
        length: usize,
        what: &str,
        place: &Place<'_>,
    ) {
        let count = u64::try_from(length).unwrap_or(u64::MAX);
        let wrong = match (min, max) {
            (Some(min), _) if count < min => format!("at least {min}"),
            (_, Some(max)) if count > max => format!("at most {max}"),
            _ => return,
        };
        self.add(|| format!("{place} must have {wrong} {what}, not {count}"));
    }

    fn list(&mut self, rule: &ListRule, items: &mut [Value], place: &Place<'_>) {
        self.length((rule.min, rule.max), items.len(), "items", place);
        if let Some(item_rule) = &rule.items {
            for (index, item) in items.iter_mut().enumerate() {
                if self.0.len() >= MAX_PROBLEMS {
                    return;
                }
                self.check(item_rule, item, &Place::Item(place, index));
            }
        }
        if rule.is_unique {
            let mut seen = std::collections::HashSet::new();
            let repeated = items.iter().position(|item| !seen.insert(item.to_string()));
            if let Some(index) = repeated {
                self.add(|| {
                    format!(
                        "`{}` is in the list twice: each item must be different",
                        Place::Item(place, index).path()
                    )
                });
            }
        }
    }

    fn object(&mut self, rule: &ObjectRule, fields: &mut Map<String, Value>, place: &Place<'_>) {
        for name in &rule.required {
            if !fields.contains_key(name) {
                self.add(|| format!("{} is missing", Place::Name(place, name)));
            }
        }
        for (name, rule_of_field) in &rule.properties {
            let Some(value) = fields.get_mut(name) else {
                continue;
            };
            let is_left_out =
                value.is_null() && !rule.required.contains(name) && !accepts_null(rule_of_field);
            if is_left_out {
                fields.remove(name);
            } else {
                self.check(rule_of_field, value, &Place::Name(place, name));
            }
        }
        if matches!(rule.others, Others::Anything) {
            return;
        }
        for (name, value) in fields.iter_mut() {
            if rule.properties.iter().any(|(known, _)| known == name) {
                continue;
            }
            let place_of_field = Place::Name(place, name);
            if let Others::Each(rule) = &rule.others {
                self.check(rule, value, &place_of_field);
            } else {
                let known = rule.properties.iter().map(|(known, _)| known.as_str());
                let hint = suggestion(name, known);
                self.add(|| format!("there is no argument {place_of_field}{hint}"));
            }
        }
    }
}

fn accepts_null(rule: &Rule) -> bool {
    if let Some(choices) = &rule.choices {
        return choices.contains(&Value::Null);
    }
    let is_one = |rules: &[Rule]| rules.is_empty() || rules.iter().any(accepts_null);
    (rule.types.is_empty() || rule.types.contains(&Type::Null))
        && rule.all_of.iter().all(accepts_null)
        && is_one(&rule.any_of)
        && is_one(&rule.one_of)
}

/// Numbers are equal by value: `1` is `1.0`.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        _ => left == right,
    }
}

fn has_type(types: &[Type], value: &Value) -> bool {
    types.is_empty()
        || types.iter().any(|kind| match (kind, value) {
            (Type::Null, Value::Null)
            | (Type::Boolean, Value::Bool(_))
            | (Type::Text, Value::String(_))
            | (Type::Number, Value::Number(_))
            | (Type::List, Value::Array(_))
            | (Type::Object, Value::Object(_)) => true,
            (Type::Integer, Value::Number(number)) => is_whole(number),
            _ => false,
        })
}

fn wrong_choice(choices: &[Value], value: &Value, place: &Place<'_>) -> String {
    let shown = |choice: &Value| match choice {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    };
    let mut list: Vec<String> = choices.iter().take(MAX_CHOICES).map(shown).collect();
    if choices.len() > MAX_CHOICES {
        list.push(format!("{} more", choices.len() - MAX_CHOICES));
    }
    let list = list.join(", ");
    // The model may have written a number as a text, or the other way round.
    let hint = match value {
        Value::String(text) if choices.iter().any(|it| is_written(it, text)) => {
            ", as a number and not as a text"
        }
        value
            if choices
                .iter()
                .any(|it| it.as_str().is_some_and(|it| is_written(value, it))) =>
        {
            ", as a text"
        }
        _ => "",
    };
    match choices {
        [_] => format!("{place} must be {list}{hint}, not {}", found(value)),
        _ => format!("{place} must be one of {list}{hint}, not {}", found(value)),
    }
}

/// Whether a value that is not a text is written like this.
fn is_written(value: &Value, text: &str) -> bool {
    let written = value.to_string();
    !value.is_string() && written == text
}

fn expected(types: &[Type]) -> String {
    let names = types.iter().map(|kind| match kind {
        Type::Null => "null",
        Type::Boolean => "true or false",
        Type::Text => "a text",
        Type::Number => "a number",
        Type::Integer => "a whole number",
        Type::List => "a list",
        Type::Object => "an object",
    });
    names.collect::<Vec<_>>().join(" or ")
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text `{}`", shown(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
