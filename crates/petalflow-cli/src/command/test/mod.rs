//! Runs the tests of documents.

mod compare;
mod conversation;
mod graph;
mod results;
mod runner;
mod suite;

use std::path::{Path, PathBuf};

use petalflow::run::CancelToken;
use petalflow_conversations::document::Conversation;
use petalflow_documents::document::ReadGraph;
use serde_json::{Value, json};

use self::compare::Difference;
use self::runner::Runner;
use self::suite::{Case, Suite};
use super::run::RunArgs;
use crate::document::{File, Kind};
use crate::drive::{FirstStop, stop_on_ctrl_c};
use crate::exit::{Exit, Failure, Result};
use crate::program_tool::ProgramTool;
use crate::services::ServiceArgs;
use crate::{load, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// Files with cases, in JSON or YAML
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Run only the cases whose names have this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,

    /// Write the golden files of the cases, and do not compare with them
    #[arg(long)]
    update: bool,

    /// Print one object in JSON: how many cases passed and failed, and how each differs
    #[arg(long)]
    pub(super) json: bool,

    /// Run a program for a tool or function, as in `run`. Can be repeated
    #[arg(long = "tool", value_name = "NAME=COMMAND")]
    tools: Vec<ProgramTool>,

    #[command(flatten)]
    settings: RunArgs,
}

const AFTER: &str = "\
Examples:
  petalflow test greeting.test.yaml
  petalflow test greeting.test.yaml --filter greeted
  petalflow test greeting.test.yaml --json

A file names a document, and has cases. A case has a `name`, `input`, and `replies` of models as in
a script. For a graph or an agent workflow it has the `answers` of people as for `--answer`. For a
conversation flow it has the `messages` of the person and the `results` of functions. It says what
must come out: variables (`expect`), a file with all variables (`golden`), or a text of the error
(`fails`); of a conversation also all `texts` that the person hears, its `node`, and whether it has
`ended`. The exit code is 2 if a case fails. Nothing is stored, and no model is asked.

`--node-timeout`, `--concurrency` and `--continue-on-error` are for graphs and agent workflows.";

/// A document that can be run.
enum Document {
    Graph(Box<ReadGraph>, Box<ServiceArgs>),
    Conversation(Box<Conversation>),
}

pub(crate) async fn run(args: Args) -> Result {
    let token = CancelToken::new();
    stop_on_ctrl_c(&token, FirstStop::Cancel);
    let (mut passed, mut failed) = (0, 0);
    let mut reports = Vec::new();
    for path in &args.files {
        let suite = Suite::read(path)?;
        let runner = Runner {
            folder: path.parent().unwrap_or(Path::new("")),
            settings: &args.settings,
            tools: &args.tools,
            update: args.update,
            token: &token,
        };
        let document = read_document(&suite, path, &runner)?;
        for case in suite.cases.iter().filter(|case| is_chosen(case, &args)) {
            let differences = match &document {
                Document::Graph(graph, services) => {
                    Box::pin(graph::run_case(case, graph, services, &runner)).await?
                }
                Document::Conversation(document) => {
                    Box::pin(conversation::run_case(case, document, &runner)).await?
                }
            };
            *(if differences.is_empty() {
                &mut passed
            } else {
                &mut failed
            }) += 1;
            if args.json {
                reports.push(json_report(path, case, &differences));
            } else {
                report(case, &differences, args.settings.quiet)?;
            }
        }
    }
    if passed + failed == 0 {
        return Err(Failure::new(Exit::Input, "no case was run")
            .hint("`--filter TEXT` chooses the cases whose names have the text"));
    }
    if args.json {
        terminal::json(&json!({ "passed": passed, "failed": failed, "cases": reports }))?;
    } else {
        terminal::note(format_args!("{passed} passed, {failed} failed"));
    }
    Ok(if failed == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Reads the document of a file of tests, and checks that the cases fit its kind. `path` is the file of tests.
fn read_document(suite: &Suite, path: &Path, runner: &Runner<'_>) -> Result<Document> {
    let file = File::read(&runner.folder.join(&suite.document))?;
    suite.check_kind(file.kind(), path)?;
    Ok(match file.kind() {
        Kind::Graph => {
            let services = ServiceArgs {
                tools: runner.tools.to_vec(),
                ..ServiceArgs::default()
            };
            let graph = load::check_graph(&file, &services.catalog())?;
            Document::Graph(Box::new(graph), Box::new(services))
        }
        Kind::Conversation => {
            let (_, checked) = load::check_conversation(file)?;
            Document::Conversation(Box::new(checked.conversation))
        }
    })
}

fn is_chosen(case: &Case, args: &Args) -> bool {
    args.filter
        .as_ref()
        .is_none_or(|text| case.name.contains(text))
}

fn json_report(path: &Path, case: &Case, differences: &[Difference]) -> Value {
    json!({
        "file": path.display().to_string(),
        "name": case.name,
        "outcome": if differences.is_empty() { "passed" } else { "failed" },
        "differences": differences,
    })
}

fn report(case: &Case, differences: &[Difference], quiet: bool) -> Result<()> {
    if differences.is_empty() {
        return if quiet {
            Ok(())
        } else {
            terminal::line(format_args!("ok      {}", case.name))
        };
    }
    terminal::line(format_args!("failed  {}", case.name))?;
    for difference in differences {
        let message = difference.message.replace('\n', "\n        ");
        terminal::line(format_args!("        {message}"))?;
    }
    Ok(())
}
