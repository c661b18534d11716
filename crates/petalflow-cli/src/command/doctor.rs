//! Says what is there and what is missing: features, the store, the server, keys, and what documents need.

use std::path::{Path, PathBuf};

use petalflow_documents::document::Needs;
use serde_json::{Value, json};

use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::place::{FilterArgs, Place, PlaceArgs};
use crate::services::ServiceArgs;
use crate::terminal::{self, ERROR, NOTE, STRONG};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Documents, to say what they need
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    place: PlaceArgs,

    #[command(flatten)]
    pub(super) services: ServiceArgs,

    /// Print a list in JSON: name, state, text
    #[arg(long)]
    pub(super) json: bool,
}

const AFTER: &str = "\
Examples:
  petalflow doctor
  petalflow doctor greeting.graph.json --store runs.db
  petalflow doctor review.graph.yaml --json

Keys are never printed. The exit code is that of the first thing that is missing.";

/// The features of this program, and whether it was built with them.
const FEATURES: [(&str, bool); 9] = [
    ("acp", cfg!(feature = "acp")),
    ("bedrock", cfg!(feature = "bedrock")),
    ("client", cfg!(feature = "client")),
    ("http", cfg!(feature = "http")),
    ("postgres", cfg!(feature = "postgres")),
    ("providers", cfg!(feature = "providers")),
    ("redis", cfg!(feature = "redis")),
    ("serve", cfg!(feature = "serve")),
    ("sqlite", cfg!(feature = "sqlite")),
];

/// What the variables of keys end with.
const KEY: &str = "_API_KEY";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It is there.
    Ok,
    /// It is not there, and nothing of the command needs it.
    Absent,
    /// It is needed and not there.
    Missing,
}

/// Something that was looked at.
struct Check {
    name: String,
    state: State,
    text: String,
    exit: Exit,
}

impl Check {
    fn new(name: &str, state: State, text: impl Into<String>) -> Self {
        Check {
            name: name.into(),
            state,
            text: text.into(),
            exit: Exit::Missing,
        }
    }

    fn failed(name: &str, failure: Failure) -> Self {
        let hint = failure
            .hint
            .map_or_else(String::new, |hint| format!(": {hint}"));
        Check {
            exit: failure.exit,
            ..Check::new(name, State::Missing, failure.message + &hint)
        }
    }
}

pub(crate) async fn run(args: Args) -> Result {
    let mut checks = vec![program(), place(&args.place).await, keys()];
    for file in &args.files {
        checks.extend(document(file, &args.services));
    }
    print(&checks, args.json)?;
    let missing = checks.iter().find(|check| check.state == State::Missing);
    Ok(missing.map_or(Exit::Done, |check| check.exit))
}

fn program() -> Check {
    let with = FEATURES.iter().filter(|(_, is_on)| *is_on);
    let without = FEATURES.iter().filter(|(_, is_on)| !*is_on);
    let names = |features: Vec<&str>| features.join(", ");
    let mut text = format!(
        "version {}, built with {}",
        env!("CARGO_PKG_VERSION"),
        names(with.map(|(name, _)| *name).collect())
    );
    let without = names(without.map(|(name, _)| *name).collect());
    if !without.is_empty() {
        text = format!("{text}; without {without}");
    }
    Check::new("program", State::Ok, text)
}

/// The store or the server.
async fn place(args: &PlaceArgs) -> Check {
    #[cfg(feature = "client")]
    match args.server() {
        Ok(Some(server)) => {
            return match server.get(&["info"], &[]).await {
                Ok(info) => Check::new("server", State::Ok, server_text(&info)),
                Err(failure) => Check::failed("server", failure),
            };
        }
        Ok(None) => {}
        Err(failure) => return Check::failed("server", failure),
    }
    if args.store.is_none() {
        let text = "none is named: runs end with the program. Name one with `--store FILE`";
        return Check::new("store", State::Absent, text);
    }
    match threads(args).await {
        // A store of another layout is not opened: the error names both versions.
        Ok(threads) => Check::new(
            "store",
            State::Ok,
            format!("it has the layout of this version, and {threads} threads"),
        ),
        Err(failure) => Check::failed("store", failure),
    }
}

async fn threads(args: &PlaceArgs) -> Result<u64> {
    let place: Place = args.open().await?;
    let counts = place.counts(&FilterArgs::default()).await?;
    Ok(counts.iter().map(|count| count.threads).sum())
}

#[cfg(feature = "client")]
fn server_text(info: &Value) -> String {
    let flows = info["flows"].as_array().into_iter().flatten();
    let flows: Vec<&str> = flows.filter_map(|flow| flow["name"].as_str()).collect();
    let version = info["version"].as_str().unwrap_or_default();
    let store = info["store"]["type"].as_str().unwrap_or_default();
    format!(
        "version {version}, store {store}, serves {}",
        flows.join(", ")
    )
}

/// The keys that are set, without their values.
fn keys() -> Check {
    let variables = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let names = variables.filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(KEY)).collect();
    names.sort();
    if names.is_empty() {
        let text = format!("no variable such as `OPENAI{KEY}` is set");
        return Check::new("keys", State::Absent, text);
    }
    Check::new("keys", State::Ok, format!("set: {}", names.join(", ")))
}

/// What a document needs.
fn document(path: &Path, services: &ServiceArgs) -> Vec<Check> {
    let name = path.display().to_string();
    let valid = |needs: Option<Needs>| {
        let mut checks = vec![Check::new(&name, State::Ok, "it is valid")];
        checks.extend(
            needs
                .map(|needs| missing(&name, &needs, services))
                .into_iter()
                .flatten(),
        );
        checks
    };
    let checked = File::read(path).and_then(|file| match file.kind() {
        Kind::Conversation => load::check_conversation(file).map(|_| None),
        Kind::Graph => {
            let read = load::check_graph(&file, &services.catalog())?;
            Ok(Some(read.definition.needs()))
        }
    });
    match checked {
        Ok(needs) => valid(needs),
        Err(failure) => vec![Check::failed(&name, failure)],
    }
}

/// What the nodes of a document need and the command does not give.
fn missing(name: &str, needs: &Needs, services: &ServiceArgs) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |text: String| checks.push(Check::new(name, State::Missing, text));
    let given = |wanted: &str| services.tools.iter().any(|tool| tool.name == wanted);
    for tool in needs.tools.iter().filter(|tool| !given(tool)) {
        add(format!(
            "tool `{tool}`: give its program with `--tool {tool}=COMMAND`"
        ));
    }
    for node in needs.functions.iter().filter(|node| !given(node)) {
        add(format!(
            "node `{node}`: give its program with `--tool {node}=COMMAND`"
        ));
    }
    let asks = needs.any_model || !needs.providers.is_empty();
    if services.script.is_none() && asks {
        if !cfg!(feature = "providers") {
            add("its models: this program was built without the feature `providers`".into());
        }
        for provider in &needs.providers {
            // Some providers need no key, or another variable: the model says so when it is asked.
            let variable = variable_of(provider);
            if provider != "ollama" && std::env::var_os(&variable).is_none_or(|it| it.is_empty()) {
                add(format!(
                    "provider `{provider}`: set the variable `{variable}`"
                ));
            }
        }
        #[cfg(feature = "providers")]
        if needs.any_model && services.model.is_none() {
            add("a node names no provider: name a model with `--model MODEL`".into());
        }
    }
    checks
}

fn variable_of(provider: &str) -> String {
    let name = if provider == "google" {
        "gemini"
    } else {
        provider
    };
    format!("{}{KEY}", name.to_uppercase().replace('-', "_"))
}

fn print(checks: &[Check], json: bool) -> Result<()> {
    if json {
        let list = checks.iter().map(|check| {
            let state = match check.state {
                State::Ok => "ok",
                State::Absent => "absent",
                State::Missing => "missing",
            };
            json!({ "name": check.name, "state": state, "text": check.text })
        });
        return terminal::json(&list.collect::<Vec<Value>>());
    }
    for Check {
        name, state, text, ..
    } in checks
    {
        let mark = match state {
            State::Ok => format!("{NOTE}ok{NOTE:#}     "),
            State::Absent => "absent ".to_owned(),
            State::Missing => format!("{ERROR}missing{ERROR:#}"),
        };
        terminal::line(format_args!("{mark}  {STRONG}{name}{STRONG:#}  {text}"))?;
    }
    Ok(())
}
