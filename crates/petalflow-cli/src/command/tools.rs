//! Lists the types of nodes and their settings.

use petalflow_documents::SETTINGS_SCHEMAS;
use petalflow_source::names;
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
    json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow tools
  petalflow tools llm_prompt
  petalflow tools human --json";

pub(crate) fn run(args: Args) -> Result {
    let schemas: Map<String, Value> = serde_json::from_str(SETTINGS_SCHEMAS).map_err(|error| {
        Failure::new(
            Exit::Failed,
            format_args!("the schemas cannot be read: {error}"),
        )
    })?;
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
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let Some(properties) = schema["properties"].as_object().filter(|it| !it.is_empty()) else {
        return terminal::line("It has no settings.");
    };
    let width = properties.keys().map(String::len).max().unwrap_or_default();
    for (setting, of) in properties {
        let mark = if required.contains(&setting.as_str()) {
            " (required)"
        } else {
            ""
        };
        terminal::line(format_args!(
            "  {STRONG}{setting:width$}{STRONG:#}  {}{mark}",
            description(of)
        ))?;
    }
    Ok(())
}

/// The first line of the description of a setting, without the links of Rust's documentation.
fn description(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    first.replace("[`", "`").replace("`]", "`")
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
