//! Makes a graph of an agent workflow.

use std::path::PathBuf;

use petalflow_documents::document::Definition;

use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::{load, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The agent workflow in JSON or YAML; `-` is stdin
    file: PathBuf,

    /// Write the graph to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write one value per line. `--pretty=false` writes one line
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true", action = clap::ArgAction::Set)]
    pretty: bool,

    /// Check the workflow, and write nothing
    #[arg(long)]
    validate_only: bool,
}

const AFTER: &str = "\
Examples:
  petalflow compile research.agent.yaml
  petalflow compile research.agent.yaml -o research.graph.json
  petalflow compile research.agent.yaml -o research.graph.yaml
  petalflow compile research.agent.yaml --pretty=false | petalflow validate -

The graph is JSON, and YAML in a file `.yaml` or `.yml`.";

pub(crate) fn run(args: Args) -> Result {
    let catalog = ServiceArgs::default().catalog();
    let (file, definition) = load::read_definition(&args.file, &catalog)?;
    let Definition::Agents(workflow) = definition else {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is a graph already", file.name()),
        )
        .hint("`compile` needs an agent workflow"));
    };
    if args.validate_only {
        terminal::line("The workflow is valid.")?;
        return Ok(Exit::Done);
    }
    let graph = workflow.compile(&catalog);
    let file = args.output.as_deref();
    let text = if args.pretty {
        terminal::document(file, &graph)?
    } else {
        serde_json::to_string(&graph).map_err(|error| Failure::new(Exit::Failed, error))?
    };
    terminal::output(file, &text)?;
    Ok(Exit::Done)
}
