//! The templates in the settings of nodes.

use serde_json::{Map, Value};

use super::settings::{MAX_BINDINGS, inner_node_setting};
use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Report;
use crate::documents::graph::NodeDefinition;
use crate::documents::template::Template;
use crate::source::{Pointer, names::shown};

/// The settings that are templates.
pub(crate) fn names(kind: &str) -> &'static [&'static str] {
    match kind {
        "llm_prompt" | "human" => &["prompt_template"],
        "transform" | "webhook_call" => &["template"],
        "cache" => &["cache_key"],
        _ => &[],
    }
}

/// Checks the templates of a node and of the nodes inside it.
pub(crate) fn check(node: &NodeDefinition, at: &Pointer, report: &mut Report) {
    in_settings(&node.id, &node.kind, &node.config, at, report, 0);
}

fn in_settings(
    id: &str,
    kind: &str,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
    depth: usize,
) {
    templates_parse(id, kind, config, at, report);
    prompt_has_no_template(id, kind, config, at, report);
    if depth >= MAX_BINDINGS {
        return;
    }
    if let Some(Value::Object(item)) = config.get("item_transform") {
        let at = at.name("item_transform");
        in_settings(id, kind, item, &at, report, depth + 1);
    }
    let inner =
        inner_node_setting(kind).and_then(|name| Some((name, config.get(name)?.as_object()?)));
    if let Some((name, inner)) = inner
        && let (Some(Value::String(kind)), Some(Value::Object(config))) =
            (inner.get("type"), inner.get("config"))
    {
        let at = at.name(name).name("config");
        in_settings(id, kind, config, &at, report, depth + 1);
    }
}

fn templates_parse(
    id: &str,
    kind: &str,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) {
    for name in names(kind) {
        if let Some(Value::String(text)) = config.get(*name)
            && let Err(error) = Template::parse(text)
        {
            let message = format!("node `{}`: {error}", shown(id));
            report.add(Code::BadTemplate, at.name(name), message);
        }
    }
}

fn prompt_has_no_template(
    id: &str,
    kind: &str,
    config: &Map<String, Value>,
    at: &Pointer,
    report: &mut Report,
) {
    if kind == "human"
        && let Some(Value::String(text)) = config.get("prompt")
        && text.contains("{{")
    {
        let message = format!(
            "node `{}`: `prompt` is not a template, so people see its `{{{{`; write `prompt_template` instead",
            shown(id)
        );
        report.add(Code::NoTemplate, at.name("prompt"), message);
    }
}
