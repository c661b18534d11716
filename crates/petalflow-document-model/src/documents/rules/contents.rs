//! What settings must contain that their types do not say: lists that are not empty, and settings that another one needs.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::documents::diagnostic::{Code, Report};
use crate::source::{Pointer, names::shown};

type Config = Map<String, Value>;

/// Checks the settings of a node, without those of a node in it.
pub(super) fn check(kind: &str, config: &Config, at: &Pointer, report: &mut Report) {
    match kind {
        "transform" => transform(config, at, report, 0),
        "filter" => filter(config, at, report),
        "guardian" => guardian(config, at, report),
        "llm_router" => labels_given(config, at, report),
        "webhook_trigger" => variables_named(config, at, report),
        _ => {}
    }
}

/// Reports a setting, unless it was reported before.
fn wrong(at: Pointer, message: impl Into<String>, report: &mut Report) {
    if !report.is_wrong(at.as_str()) {
        report.add(Code::WrongValue, at, message);
    }
}

/// Whether a setting is absent or empty.
fn is_empty(config: &Config, name: &str) -> bool {
    match config.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(_) => false,
    }
}

/// The deepest transformations of items of items.
const MAX_DEPTH: usize = 16;

fn transform(config: &Config, at: &Pointer, report: &mut Report, depth: usize) {
    // The other settings depend on it.
    if report.is_wrong(at.name("transform").as_str()) {
        return;
    }
    if is_empty(config, "output_var") {
        wrong(at.name("output_var"), "`output_var` is empty", report);
    }
    let kind = config.get("transform").and_then(Value::as_str);
    let list = match kind {
        Some("pick" | "omit") => Some("fields"),
        Some("rename") => Some("mapping"),
        Some("merge") => Some("input_vars"),
        _ => None,
    };
    if let Some(name) = list.filter(|name| is_empty(config, name)) {
        wrong(
            at.name(name),
            format!("`{name}` is empty: at least one is required"),
            report,
        );
    }
    if kind == Some("rename") {
        names_differ(config, at, report);
    }
    if let Some(Value::Object(item)) = config.get("item_transform") {
        let at = at.name("item_transform");
        if depth == MAX_DEPTH {
            wrong(
                at,
                format!("transformations are nested deeper than {MAX_DEPTH} levels"),
                report,
            );
        } else {
            transform(item, &at, report, depth + 1);
        }
    }
}

fn names_differ(config: &Config, at: &Pointer, report: &mut Report) {
    let mapping = config.get("mapping").and_then(Value::as_object);
    let mut names = HashSet::new();
    for (old, new) in mapping.into_iter().flatten() {
        if let Some(new) = new.as_str()
            && !names.insert(new)
        {
            let message = format!("two fields get the name `{}`", shown(new));
            wrong(at.name("mapping").name(old), message, report);
        }
    }
}

fn filter(config: &Config, at: &Pointer, report: &mut Report) {
    if config.get("target").is_some_and(|it| it == "var") && is_empty(config, "input_var") {
        let message = "`target: var` needs `input_var`, the path of the list";
        wrong(at.name("input_var"), message, report);
    }
    each(config, "filters", at, |kind, filter, at| {
        if kind == "dedupe" && is_empty(filter, "field") {
            wrong(at.name("field"), "`dedupe` needs `field`", report);
        }
    });
}

fn guardian(config: &Config, at: &Pointer, report: &mut Report) {
    each(config, "checks", at, |kind, check, at| {
        let needed = match kind {
            "max_length" => "max_length",
            "min_length" => "min_length",
            "pattern" => "pattern",
            "enum" => "allowed_values",
            "type" => "expected_type",
            // An empty schema accepts everything.
            "schema" if check.get("schema").is_none_or(Value::is_null) => "schema",
            _ => return,
        };
        if kind == "schema" || is_empty(check, needed) {
            wrong(
                at.name(needed),
                format!("a check of type `{kind}` needs `{needed}`"),
                report,
            );
        }
    });
}

/// Calls a function with each item of a list and its type.
fn each(config: &Config, list: &str, at: &Pointer, mut check: impl FnMut(&str, &Config, &Pointer)) {
    let items = config.get(list).and_then(Value::as_array);
    for (index, item) in items.into_iter().flatten().enumerate() {
        if let Some(item) = item.as_object()
            && let Some(Value::String(kind)) = item.get("type")
        {
            check(kind, item, &at.name(list).item(index));
        }
    }
}

/// Without labels, the edges of the node are the targets.
fn labels_given(config: &Config, at: &Pointer, report: &mut Report) {
    let labels = config.get("allowed_targets").and_then(Value::as_object);
    if labels.is_some_and(|labels| labels.keys().any(|label| label.trim().is_empty())) {
        wrong(at.name("allowed_targets"), "a label is empty", report);
    }
}

fn variables_named(config: &Config, at: &Pointer, report: &mut Report) {
    for name in [
        "request_var",
        "body_var",
        "headers_var",
        "query_var",
        "metadata_var",
    ] {
        if config.get(name).is_some_and(|it| it == "") {
            wrong(
                at.name(name),
                format!("`{name}` is empty: leave it out for the default"),
                report,
            );
        }
    }
}
