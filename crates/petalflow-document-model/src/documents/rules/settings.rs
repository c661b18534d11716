//! The settings of nodes, checked with the schemas of their types.

use serde_json::{Map, Value};

use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Codes;
use crate::documents::diagnostic::Report;
use crate::documents::graph::NodeDefinition;
use crate::documents::{catalog, schemas};

use super::forms;
use crate::source::schema;
use crate::source::{Pointer, names::shown};

const CODES: Codes = Codes {
    name: "setting",
    unknown: Code::UnknownSetting,
    missing: Code::MissingField,
    wrong: |_| Code::WrongValue,
    null_is_absent: true,
};

/// The deepest nesting of nodes in nodes.
pub(super) const MAX_BINDINGS: usize = 8;

/// Checks the settings of a node. They are returned as by [`normalized`].
pub(crate) fn check(
    node: &NodeDefinition,
    at: &Pointer,
    report: &mut Report,
) -> Map<String, Value> {
    settings(&node.kind, &node.config, at, report, 0)
}

/// Checks some settings of a node that a workflow is compiled to.
pub(crate) fn check_part(
    kind: &str,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) {
    settings(kind, config, at, report, 0);
}

/// The settings in the form of the Rust types: with defaults that PetalFlow has and they do not, and without unknown ones.
pub(crate) fn normalized(kind: &str, config: &Map<String, Value>) -> Map<String, Value> {
    settings(kind, config, &Pointer::root(), &mut Report::default(), 0)
}

/// The setting with the node that a node of this type runs, if it runs one.
///
/// ```
/// use petalflow_document_model::documents::inner_node_setting;
///
/// assert_eq!(inner_node_setting("map"), Some("mapper_binding"));
/// assert_eq!(inner_node_setting("noop"), None);
/// ```
pub fn inner_node_setting(kind: &str) -> Option<&'static str> {
    match kind {
        "map" => Some("mapper_binding"),
        "cache" => Some("wrapped_binding"),
        _ => None,
    }
}

fn settings(
    kind: &str,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
    depth: usize,
) -> Map<String, Value> {
    let Some(schema) = schemas::SETTINGS.get(kind) else {
        return config.clone();
    };
    let mut config = with_defaults(kind, config);
    let inner = inner_node_setting(kind).and_then(|name| Some((name, config.remove(name)?)));
    // The conditions have rules of their own.
    if kind == "conditional" && config.get("conditions").is_none_or(|it| !it.is_array()) {
        config.insert("conditions".into(), Value::Array(Vec::new()));
    }
    let checked = schema::check(schema, &Value::Object(config), at, CODES, report);
    let mut checked = match checked {
        Value::Object(checked) => checked,
        _ => Map::new(),
    };
    forms::check(kind, schema, &checked, at, report);
    if let Some((name, inner)) = inner {
        let inner = inner_node(kind, &inner, &at.name(name), report, depth);
        checked.insert(name.into(), inner);
    } else {
        inner_node_given(kind, at, report);
    }
    checked
}

/// Reports the setting of the inner node as missing, if nodes of this type have one.
fn inner_node_given(kind: &str, at: &Pointer, report: &mut Report) {
    if let Some(name) = inner_node_setting(kind) {
        let message = format!(
            "`{name}` is missing: it is the node that `{kind}` runs, `{{\"type\": .., \"config\": ..}}`"
        );
        report.add(Code::MissingField, at.name(name), message);
    }
}

/// Types that a node inside a node cannot have.
const UNFIT: [&str; 6] = [
    "merge",
    "conditional",
    "llm_router",
    "rule_router",
    "webhook_trigger",
    "func",
];

/// Checks the node inside a node. It is `null` if it cannot be used.
fn inner_node(
    kind: &str,
    binding: &Value,
    at: &Pointer,
    report: &mut Report,
    depth: usize,
) -> Value {
    let Some(object) = inner_node_is_object(binding, at, report) else {
        return Value::Null;
    };
    if !nesting_is_shallow(depth, at, report) {
        return Value::Null;
    }
    fields_are_known(object, at, report);
    let Some(inner) = inner_type_fits(kind, object, at, report) else {
        return Value::Null;
    };
    let empty = Map::new();
    let config = object.get("config").and_then(Value::as_object);
    let config = config.unwrap_or(&empty);
    let config = settings(inner, config, &at.name("config"), report, depth + 1);
    serde_json::json!({ "type": inner, "config": config })
}

fn inner_node_is_object<'b>(
    binding: &'b Value,
    at: &Pointer,
    report: &mut Report,
) -> Option<&'b Map<String, Value>> {
    let object = binding.as_object();
    if object.is_none() {
        let message = "expected an object with `type` and `config`";
        report.add(Code::WrongValue, at.clone(), message);
    }
    object
}

fn nesting_is_shallow(depth: usize, at: &Pointer, report: &mut Report) -> bool {
    let is_shallow = depth < MAX_BINDINGS;
    if !is_shallow {
        report.add(Code::WrongValue, at.clone(), "nodes are nested too deep");
    }
    is_shallow
}

fn fields_are_known(object: &Map<String, Value>, at: &Pointer, report: &mut Report) {
    for name in object.keys() {
        if !["id", "type", "config"].contains(&name.as_str()) {
            let message = format!("there is no field `{}`", shown(name));
            report.add_at_name(Code::UnknownField, at.name(name), message);
        }
    }
}

fn inner_type_fits<'b>(
    kind: &str,
    object: &'b Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) -> Option<&'b str> {
    let inner = object.get("type").and_then(Value::as_str);
    let inner = inner.unwrap_or_default();
    if catalog::outputs(inner).is_some() && !UNFIT.contains(&inner) {
        return Some(inner);
    }
    let message = format!(
        "`{}` is not a node type that `{kind}` can run",
        shown(inner)
    );
    report.add(Code::WrongValue, at.name("type"), message);
    None
}

/// Adds what PetalFlow has as a default, and its other names.
fn with_defaults(kind: &str, config: &Map<String, Value>) -> Map<String, Value> {
    let mut config = config.clone();
    if kind == "llm_router" {
        config
            .entry("allowed_targets")
            .or_insert_with(|| Value::Object(Map::new()));
    }
    if kind == "merge" {
        let strategy = config.get("strategy").and_then(Value::as_str);
        if let None | Some("" | "json") = strategy {
            config.insert("strategy".into(), "json_merge".into());
        }
        if config.get("strategy").is_some_and(|it| it == "best_score") {
            config.entry("score_var").or_insert_with(|| "score".into());
        }
    }
    config
}
