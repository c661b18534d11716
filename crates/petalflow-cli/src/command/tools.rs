//! Lists the types of nodes and their settings.

use petalflow_document_model::source::names;
use petalflow_documents::document::{SETTINGS_SCHEMAS, inner_node_setting};
use serde_json::{Map, Value, json};

use crate::exit::{Exit, Failure, Result};
use crate::terminal::{self, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// A type of nodes
    name: Option<String>,

    /// Print JSON: a list of the types, or the JSON Schema of the settings of one
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow tools
  petalflow tools llm_prompt
  petalflow tools human --json";

pub(crate) fn run(args: Args) -> Result {
    let mut schemas: Map<String, Value> =
        serde_json::from_str(SETTINGS_SCHEMAS).map_err(|error| {
            Failure::new(
                Exit::Failed,
                format_args!("the schemas cannot be read: {error}"),
            )
        })?;
    for (name, schema) in &mut schemas {
        add_inner_node(name, schema);
    }
    match (&args.name, args.json) {
        (None, false) => list(&schemas)?,
        (None, true) => {
            let all = schemas.iter().map(|(name, schema)| {
                json!({ "name": name, "description": summary(name), "schema": schema })
            });
            terminal::json(&all.collect::<Vec<_>>())?;
        }
        (Some(name), as_json) => {
            let schema = schemas.get(name).ok_or_else(|| unknown(name, &schemas))?;
            if as_json {
                terminal::json(schema)?;
            } else {
                show(name, schema)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Adds the setting with the inner node, which the Rust types have as an argument.
fn add_inner_node(name: &str, schema: &mut Value) {
    if let Some(setting) = inner_node_setting(name)
        && let Some(properties) = schema["properties"].as_object_mut()
    {
        let inner = json!({
            "type": "object",
            "description": "The node that it runs: `{ \"type\": .., \"config\": .. }`.",
            "properties": { "type": { "type": "string" }, "config": { "type": "object" } },
            "required": ["type"],
        });
        properties.insert(setting.into(), inner);
        if let Some(required) = schema["required"].as_array_mut() {
            required.push(setting.into());
        } else {
            schema["required"] = json!([setting]);
        }
    }
}

fn unknown(name: &str, schemas: &Map<String, Value>) -> Failure {
    let suggestion = names::suggestion(name, schemas.keys().map(String::as_str));
    Failure::new(
        Exit::Input,
        format_args!("there is no node type `{}`{suggestion}", names::shown(name)),
    )
    .hint("`petalflow tools` lists them")
}

fn list(schemas: &Map<String, Value>) -> Result<()> {
    let width = schemas.keys().map(String::len).max().unwrap_or_default();
    for name in schemas.keys() {
        terminal::line(format_args!(
            "{STRONG}{name:width$}{STRONG:#}  {}",
            summary(name)
        ))?;
    }
    Ok(())
}

fn show(name: &str, schema: &Value) -> Result<()> {
    terminal::line(format_args!("{STRONG}{name}{STRONG:#}: {}", summary(name)))?;
    let definitions = &schema["$defs"];
    let shown = match schema["oneOf"].as_array() {
        None => properties(schema, definitions, "It has no settings."),
        // One setting decides which others there are.
        Some(variants) => variants.iter().try_for_each(|variant| {
            if let Some((setting, value)) = discriminant(variant) {
                terminal::line(format_args!(
                    "\n{STRONG}{setting}: {value}{STRONG:#}  {}",
                    description(variant)
                ))?;
            }
            properties(variant, definitions, "  It has no other settings.")
        }),
    };
    shown?;
    Ok(())
}

/// The setting that selects this variant, with its value.
fn discriminant(variant: &Value) -> Option<(&str, &str)> {
    let mut properties = variant["properties"].as_object()?.iter();
    properties.find_map(|(name, of)| Some((name.as_str(), of["const"].as_str()?)))
}

fn properties(schema: &Value, definitions: &Value, if_empty: &str) -> Result<()> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let all = schema["properties"].as_object();
    let shown: Vec<(&String, &Value)> = all
        .into_iter()
        .flatten()
        .filter(|(_, of)| of.get("const").is_none())
        .collect();
    if shown.is_empty() {
        return terminal::line(if_empty);
    }
    let width = shown
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or_default();
    for (setting, of) in shown {
        let mark = if required.contains(&setting.as_str()) {
            " (required)"
        } else {
            ""
        };
        let values = allowed_values(of, definitions)
            .map_or_else(String::new, |it| format!(" One of: {it}."));
        terminal::line(format_args!(
            "  {STRONG}{setting:width$}{STRONG:#}  {}{values}{mark}",
            description(of)
        ))?;
    }
    Ok(())
}

/// The values of a setting, if the schema lists them as texts.
fn allowed_values(schema: &Value, definitions: &Value) -> Option<String> {
    let of_definition = schema["$ref"]
        .as_str()
        .and_then(|it| definitions.get(it.strip_prefix("#/$defs/")?));
    let schema = of_definition.unwrap_or(schema);
    let values: Option<Vec<&str>> = match (&schema["enum"], &schema["oneOf"]) {
        (Value::Array(values), _) => values.iter().map(Value::as_str).collect(),
        (_, Value::Array(variants)) => variants.iter().map(|it| it["const"].as_str()).collect(),
        _ => None,
    };
    values
        .filter(|it| !it.is_empty())
        .map(|values| values.join(", "))
}

/// The first paragraph of the description of a setting, without the links of Rust's documentation.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let first = text
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .replace('\n', " ");
    let mut plain = String::with_capacity(first.len());
    let mut rest = first.as_str();
    while let Some((before, link)) = rest.split_once('[') {
        let Some((label, after)) = link.split_once(']') else {
            break;
        };
        let is_link = label.starts_with('`') || after.starts_with('(');
        plain.push_str(before);
        let (open, close) = if is_link { ("", "") } else { ("[", "]") };
        plain.extend([open, label, close]);
        rest = match after.strip_prefix('(').and_then(|it| it.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    without_paths(&(plain + rest))
}

/// The text with the values of enumerations as documents have them: `last` for `Conflict::Last`.
fn without_paths(text: &str) -> String {
    let mut pieces: Vec<String> = text.split('`').map(str::to_owned).collect();
    // Each second piece is code.
    for code in pieces.iter_mut().skip(1).step_by(2) {
        if let Some((_, variant)) = code.rsplit_once("::") {
            *code = snake_case(variant);
        }
    }
    pieces.join("`")
}

fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

/// What a node of a type does.
fn summary(name: &str) -> &'static str {
    match name {
        "cache" => "stores the result of the node in it, and uses it again",
        "conditional" => "takes the branch of the first condition that is true",
        "filter" => "removes items of a list, artifacts or messages",
        "func" => "runs code of the program: `--tool NODE=COMMAND`",
        "gate" => "lets a run pass if a condition is true",
        "guardian" => "checks variables, and stops or redirects what it refuses",
        "human" => "asks a person",
        "llm_prompt" => "asks a model",
        "llm_router" => "lets a model choose the next node",
        "map" => "runs the node in it for each item of a list",
        "merge" => "waits for branches and merges their results",
        "noop" => "does nothing",
        "rule_router" => "chooses the next nodes by rules",
        "tool" => "calls a tool: `--tool NAME=COMMAND`",
        "transform" => "makes a variable of others",
        "webhook_call" => "sends a request to an address",
        "webhook_trigger" => "begins a run with a request",
        _ => "",
    }
}
