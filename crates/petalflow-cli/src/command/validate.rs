//! Reports all that is wrong with documents.

use std::path::PathBuf;

use petalflow_conversations::document as conversation;
use petalflow_documents::document::Catalog;

use crate::diagnostics::Findings;
use crate::document::{File, Kind};
use crate::exit::{Exit, Result};
use crate::program_tool::ProgramTool;
use crate::services::ServiceArgs;
use crate::{load, terminal};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The documents: graphs, agent workflows and conversation flows in JSON or YAML; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Accept nodes that use this tool. Can be repeated
    #[arg(long = "tool", value_name = "NAME=COMMAND")]
    tools: Vec<ProgramTool>,

    /// Let warnings fail too
    #[arg(long)]
    strict: bool,

    /// Print a list in JSON: code, severity, message, pointer, file, line, column. The same as `--format json`
    #[arg(long)]
    json: bool,

    /// How the diagnostics are printed
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    format: Format,
}

/// How diagnostics are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line for each.
    #[default]
    Text,
    /// A list in JSON.
    Json,
}

impl Args {
    pub(super) fn prints_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}

const AFTER: &str = "\
Examples:
  petalflow validate greeting.graph.json
  petalflow validate --strict flows/*.yaml
  petalflow validate --json food_order.json
  cat greeting.graph.json | petalflow validate -

The exit code is 1 if a document has errors, or with `--strict` warnings. The diagnostics are on
stdout, all at once: a line `FILE:LINE:COLUMN: error[CODE]: MESSAGE` for each. The codes CL-001 (it
cannot be loaded) and CL-002 (the file cannot be read, exit code 3) are of this command.";

pub(crate) fn run(args: Args) -> Result {
    let prints_json = args.prints_json();
    let services = ServiceArgs {
        tools: args.tools,
        ..ServiceArgs::default()
    };
    let catalog = services.catalog();
    let mut findings = Findings::default();
    let mut is_unreadable = false;
    for path in &args.files {
        match File::read(path) {
            Ok(file) => findings.append(check(&file, &catalog)),
            Err(failure) => {
                is_unreadable = true;
                findings.add_error(&path.display().to_string(), "CL-002", &failure.message);
            }
        }
    }
    if prints_json {
        findings.print_json()?;
    } else {
        findings.print()?;
        terminal::note(if findings.errors + findings.warnings == 0 {
            "valid".to_owned()
        } else {
            findings.to_string()
        });
    }
    let fails = findings.errors > 0 || (args.strict && findings.warnings > 0);
    Ok(match fails {
        true if is_unreadable => Exit::File,
        true => Exit::Invalid,
        false => Exit::Done,
    })
}

/// All that is wrong with a document of any kind.
fn check(file: &File, catalog: &Catalog) -> Findings {
    if file.kind() == Kind::Conversation {
        return match conversation::check(&file.conversation_source()) {
            Ok(checked) => Findings::of(&checked.warnings),
            Err(found) => Findings::of(&found),
        };
    }
    match file.graph_source().read_graph(catalog) {
        Err(found) => Findings::of(&found),
        Ok(read) => {
            let mut findings = Findings::of(&read.warnings);
            // What only the loader sees, such as nodes that cannot be reached.
            if let Err(problems) = load::build_without_services(read) {
                findings.append(Findings::of(&file.located(&problems)));
            }
            findings
        }
    }
}
