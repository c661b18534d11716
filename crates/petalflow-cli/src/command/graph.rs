//! Draws documents.

use std::path::PathBuf;

use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::{load, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The document: a graph, an agent workflow or a conversation flow in JSON or YAML; `-` is stdin
    file: PathBuf,

    /// The language of the drawing. The default is that of the ending of `--output`, or else Mermaid
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Write the drawing to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  petalflow graph research.agent.yaml
  petalflow graph research.agent.yaml -o research.svg
  petalflow graph food_order.json --format dot | dot -Tpng -o food_order.png";

/// The language of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A flowchart for Markdown.
    Mermaid,
    /// The language of Graphviz.
    Dot,
    /// A picture.
    Svg,
}

pub(crate) fn run(args: Args) -> Result {
    let file = File::read(&args.file)?;
    let extension = args
        .output
        .as_deref()
        .and_then(|file| file.extension()?.to_str());
    let format = args.format.unwrap_or(match extension {
        Some("svg") => Format::Svg,
        Some("dot" | "gv") => Format::Dot,
        _ => Format::Mermaid,
    });
    let drawing = if file.kind() == Kind::Conversation {
        let (_, checked) = load::check_conversation(file)?;
        match format {
            Format::Mermaid => checked.conversation.mermaid(),
            Format::Dot => checked.conversation.dot(),
            Format::Svg => checked.conversation.picture(),
        }
    } else {
        let graph = build_graph(&file)?;
        match format {
            Format::Mermaid => petalflow_graph::mermaid(&graph),
            Format::Dot => petalflow_graph::dot(&graph),
            Format::Svg => petalflow_graph::picture(&graph),
        }
    };
    terminal::output(args.output.as_deref(), &drawing)?;
    Ok(Exit::Done)
}

/// Builds the graph that the engine would run.
fn build_graph(file: &File) -> Result<petalflow_graph::Graph> {
    let catalog = ServiceArgs::default().catalog();
    let read = load::check_graph(file, &catalog)?;
    let flow = load::build_without_services(read).map_err(|problems| {
        Failure::new(
            Exit::Invalid,
            format_args!(
                "the graph of `{}` cannot be built: {}",
                file.name(),
                problems.join("; ")
            ),
        )
    })?;
    Ok(flow.launch().graph())
}
