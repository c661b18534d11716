//! Runs the tests of documents.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use petalflow::run::CancelToken;
use petalflow_documents::document::ReadGraph;
use petalflow_documents::{Envelope, Trace, WireEnvelope};
use petalflow_llm::ScriptedModel;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::run::RunArgs;
use crate::answers::AnswerArgs;
use crate::document::File;
use crate::drive::{Driver, End, FirstStop, stop_on_ctrl_c};
use crate::events::{View, ViewMode};
use crate::exit::{Exit, Failure, Result};
use crate::program_tool::ProgramTool;
use crate::services::ServiceArgs;
use crate::{load, script, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Files with cases, in JSON or YAML
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Run only the cases whose names have this text
    #[arg(long, value_name = "TEXT")]
    case: Option<String>,

    /// Write the golden files of the cases, and do not compare with them
    #[arg(long)]
    update: bool,

    /// Run a program for a tool or function, as in `run`. Can be repeated
    #[arg(long = "tool", value_name = "NAME=COMMAND")]
    tools: Vec<ProgramTool>,

    #[command(flatten)]
    settings: RunArgs,
}

const AFTER: &str = "\
Examples:
  petalflow test greeting.test.yaml
  petalflow test greeting.test.yaml --case guest

A file names a document, and has cases. A case has a `name`, `input`, `replies` of models as in a
script, and `answers` of people as for `--answer`. It says what must come out: variables
(`expect`), a file with all variables (`golden`), or a text of the error (`fails`). The exit code
is 2 if a case fails. Nothing is stored, and no model is asked.";

/// A file with cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    /// The path of the document, beside this file.
    document: PathBuf,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// The variables.
    #[serde(default)]
    input: Map<String, Value>,
    /// The replies of all models, in order.
    #[serde(default)]
    replies: Vec<Value>,
    #[serde(default)]
    answers: Vec<String>,
    /// The values of some variables, by their paths.
    #[serde(default)]
    expect: Map<String, Value>,
    /// The path of a file with the values of all variables, beside this file.
    #[serde(default)]
    golden: Option<PathBuf>,
    /// The paths of variables that are not compared with the golden file, such as times.
    #[serde(default)]
    ignore: Vec<String>,
    /// A part of the error.
    #[serde(default)]
    fails: Option<String>,
}

impl Case {
    fn check(&self) -> std::result::Result<(), String> {
        let has_result = !self.expect.is_empty() || self.golden.is_some();
        match (has_result, &self.fails) {
            (false, None) => Err(format!(
                "the case `{}` expects nothing: write `expect`, `golden` or `fails`",
                self.name
            )),
            _ if self.golden.is_none() && !self.ignore.is_empty() => Err(format!(
                "the case `{}` has `ignore` without `golden`: `expect` names what is compared",
                self.name
            )),
            (true, Some(_)) => Err(format!(
                "the case `{}` cannot have a result and fail: write `fails` alone",
                self.name
            )),
            _ => Ok(()),
        }
    }
}

/// How a case ended.
enum Outcome {
    Finished(Box<Envelope>),
    Failed(String),
}

pub(crate) async fn run(args: Args) -> Result {
    let token = CancelToken::new();
    stop_on_ctrl_c(&token, FirstStop::Cancel);
    let (mut count, mut failed) = (0, 0);
    for path in &args.files {
        let suite = read(path)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let services = ServiceArgs {
            tools: args.tools.clone(),
            ..ServiceArgs::default()
        };
        let graph = load::read_graph(&folder.join(&suite.document), &services.catalog())?;
        for case in suite.cases.iter().filter(|case| is_chosen(case, &args)) {
            let differences = run_case(case, &graph, &services, folder, &args, &token).await?;
            count += 1;
            failed += usize::from(!differences.is_empty());
            report(case, &differences, args.settings.quiet)?;
        }
    }
    if count == 0 {
        return Err(Failure::new(Exit::Input, "no case was run")
            .hint("`--case TEXT` chooses the cases whose names have the text"));
    }
    terminal::note(format_args!("{} passed, {failed} failed", count - failed));
    Ok(if failed == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

fn read(path: &Path) -> Result<Suite> {
    let file = File::read(path)?;
    let wrong = |problem: String| {
        Failure::new(
            Exit::Input,
            format_args!("the tests `{}` cannot be used: {problem}", file.name()),
        )
        .hint("`petalflow test --help` says what a file of tests has")
    };
    let suite: Suite =
        serde_json::from_value(file.value()?).map_err(|error| wrong(error.to_string()))?;
    suite
        .cases
        .iter()
        .try_for_each(Case::check)
        .map_err(wrong)?;
    Ok(suite)
}

fn is_chosen(case: &Case, args: &Args) -> bool {
    args.case
        .as_ref()
        .is_none_or(|text| case.name.contains(text))
}

/// Runs a case in the memory of the process. Returns how its end differs from what the case expects.
async fn run_case(
    case: &Case,
    graph: &ReadGraph,
    services: &ServiceArgs,
    folder: &Path,
    args: &Args,
    token: &CancelToken,
) -> Result<Vec<String>> {
    let model = script::model(
        case.replies.clone().into(),
        &format!("replies of {}", case.name),
    )?;
    let mut differences = Vec::new();
    let outcome = outcome(case, graph, services, &model, args, token).await?;
    match (&outcome, &case.fails) {
        (Outcome::Failed(message), Some(text)) if message.contains(text) => {}
        (Outcome::Failed(message), Some(text)) => {
            differences.push(format!("the error does not say `{text}`: {message}"));
        }
        (Outcome::Failed(message), None) => differences.push(message.clone()),
        (Outcome::Finished(_), Some(_)) => differences.push("the run has not failed".into()),
        (Outcome::Finished(envelope), None) => {
            compare_variables(case, envelope, &mut differences);
            if let Some(golden) = &case.golden {
                let file = folder.join(golden);
                differences.extend(compare_golden(case, &file, envelope, args.update)?);
            }
            if model.remaining() > 0 {
                differences.push(format!("{} replies were not asked for", model.remaining()));
            }
        }
    }
    Ok(differences)
}

async fn outcome(
    case: &Case,
    graph: &ReadGraph,
    services: &ServiceArgs,
    model: &ScriptedModel,
    args: &Args,
    token: &CancelToken,
) -> Result<Outcome> {
    let given = AnswerArgs {
        answers: case.answers.clone(),
        ..AnswerArgs::default()
    };
    given.check(&graph.definition)?;
    let services = services
        .without_models(&graph.definition.needs())
        .any_model(model.clone());
    let flow = load::build(graph.clone(), &services)?;
    let store = petalflow::checkpoint::InMemoryStore::new();
    let launch = args.settings.launch(&flow, &graph.definition, token);
    let thread = launch.store(&store).thread(&case.name);
    let mut envelope = Envelope::new();
    envelope.vars.extend(case.input.clone());
    envelope.trace = Trace {
        run_id: case.name.clone(),
        ..Trace::now()
    };
    let mut driver = Driver {
        thread: &thread,
        view: View::new(thread.id(), ViewMode::Quiet),
        answers: given,
        store_options: None,
        may_ask: false,
        options: "",
    };
    let end = driver.drive(thread.run(envelope)).await;
    Ok(match end {
        Ok(End::Finished(envelope)) => match &driver.answers.answers[..] {
            [] => Outcome::Finished(envelope),
            unused => Outcome::Failed(format!(
                "no question needed the answer `{}`",
                unused.join("`, `")
            )),
        },
        Ok(End::Waiting(interrupts)) => {
            let nodes: Vec<String> = interrupts
                .iter()
                .map(|it| format!("`{}`", it.node))
                .collect();
            Outcome::Failed(format!(
                "no answer for {}: add it to `answers`",
                nodes.join(", ")
            ))
        }
        Ok(End::Sleeping(_)) => Outcome::Failed("the run sleeps".into()),
        Err(failure) if failure.exit == Exit::Stopped => return Err(failure),
        Err(failure) => Outcome::Failed(failure.message),
    })
}

fn compare_variables(case: &Case, envelope: &Envelope, differences: &mut Vec<String>) {
    for (path, expected) in &case.expect {
        compare(
            path,
            Some(expected),
            envelope.get_var_nested(path),
            differences,
        );
    }
}

/// Compares all variables with those of a file, or writes the file.
fn compare_golden(
    case: &Case,
    file: &Path,
    envelope: &Envelope,
    update: bool,
) -> Result<Vec<String>> {
    let mut wire = serde_json::to_value(WireEnvelope::from(envelope)).unwrap_or_default();
    let vars = compared(wire["vars"].take(), &case.ignore);
    if update {
        terminal::output(Some(file), &terminal::pretty(&vars)?)?;
        return Ok(Vec::new());
    }
    if !file.exists() {
        return Ok(vec![format!(
            "there is no file `{}`: `--update` writes it",
            file.display()
        )]);
    }
    let golden = compared(File::read(file)?.value()?, &case.ignore);
    let names = |value: &Value| -> BTreeSet<String> {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(name, _)| name.clone()).collect()
    };
    let mut differences = Vec::new();
    for name in names(&golden).union(&names(&vars)) {
        compare(name, golden.get(name), vars.get(name), &mut differences);
    }
    Ok(differences)
}

/// The variables without those that are ignored.
fn compared(mut vars: Value, ignored: &[String]) -> Value {
    for path in ignored {
        remove(&mut vars, path);
    }
    vars
}

fn remove(value: &mut Value, path: &str) {
    let Some(fields) = value.as_object_mut() else {
        return;
    };
    match path.split_once('.') {
        None => drop(fields.remove(path)),
        Some((name, rest)) => {
            if let Some(inner) = fields.get_mut(name) {
                remove(inner, rest);
            }
        }
    }
}

fn compare(
    name: &str,
    expected: Option<&Value>,
    found: Option<&Value>,
    differences: &mut Vec<String>,
) {
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".into(), Value::to_string);
    if expected != found {
        differences.push(format!(
            "{name}: expected {}, found {}",
            text(expected),
            text(found)
        ));
    }
}

fn report(case: &Case, differences: &[String], quiet: bool) -> Result<()> {
    if differences.is_empty() {
        return if quiet {
            Ok(())
        } else {
            terminal::line(format_args!("ok      {}", case.name))
        };
    }
    terminal::line(format_args!("failed  {}", case.name))?;
    for difference in differences {
        terminal::line(format_args!(
            "        {}",
            difference.replace('\n', "\n        ")
        ))?;
    }
    Ok(())
}
