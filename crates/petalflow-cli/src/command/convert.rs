//! Writes a conversation flow in another form.

use std::path::PathBuf;

use crate::exit::{Exit, Failure, Result};
use crate::load;
use crate::terminal::{self, WARNING, note};

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The conversation flow in JSON or YAML, in any form; `-` is stdin
    file: PathBuf,

    /// The new form
    #[arg(long, value_enum)]
    to: Form,

    /// Write the document to a file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Fail if the new form cannot say everything
    #[arg(long)]
    strict: bool,
}

const AFTER: &str = "\
Examples:
  petalflow convert old_order.json --to editor -o order.yaml
  petalflow convert food_order.json --to editor-json -o order.json

The graphical editor opens and saves the declarative form, so `--to editor` and `--to config` write the
same. Until September 2026 it had a form of its own, `editor-json`, which it still opens, without the
schemas of functions and the conditions of decisions. The result is JSON, and YAML in a file `.yaml` or `.yml`. What the new form cannot express is listed on
stderr. A document that has the form already is written with all its fields.";

/// A form of conversation flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// The declarative form: nodes by name, functions in code.
    Config,
    /// What Pipecat's graphical editor opens and saves: the declarative form.
    Editor,
    /// The form that the editor had until September 2026: nodes with positions, functions with schemas.
    EditorJson,
}

pub(crate) fn run(args: Args) -> Result {
    let (file, checked) = load::read_conversation(&args.file)?;
    let output = args.output.as_deref();
    // A `serde_json::Value` would sort the nodes by their names.
    let (text, dropped) = match args.to {
        Form::Config | Form::Editor => {
            let converted = checked.to_config();
            let text = terminal::document(output, &converted.document)?;
            (text, converted.dropped)
        }
        Form::EditorJson => {
            let converted = checked.to_editor();
            let text = terminal::document(output, &converted.document)?;
            (text, converted.dropped)
        }
    };
    for it in &dropped {
        note(format_args!("{WARNING}dropped:{WARNING:#} {it}"));
    }
    if args.strict && !dropped.is_empty() {
        return Err(Failure::new(
            Exit::Invalid,
            format_args!(
                "the new form cannot say all of `{}`, and nothing was written",
                file.name()
            ),
        ));
    }
    terminal::output(output, &text)?;
    Ok(Exit::Done)
}
