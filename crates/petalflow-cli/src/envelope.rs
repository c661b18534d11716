//! Envelopes from the options of a command, and as results.

use std::fmt::Write as _;
use std::path::PathBuf;

use petalflow_documents::{Envelope, WireEnvelope};
use petalflow_llm::ChatMessage;
use serde_json::{Map, Value};

use crate::answers::plain;
use crate::document::File;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{self, STRONG};

/// The input of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct InputArgs {
    /// Set a variable: JSON, or else a text. Or several: a JSON object. Can be repeated
    #[arg(short, long = "input", value_name = "NAME=VALUE")]
    inputs: Vec<String>,

    /// Set the variables of an object in JSON or YAML; `-` is stdin
    #[arg(short = 'f', long, value_name = "FILE")]
    input_file: Option<PathBuf>,

    /// Begin with this envelope: an object in JSON or YAML with `vars`, `input`, `messages`, `artifacts`; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "input_file")]
    envelope: Option<PathBuf>,
}

impl InputArgs {
    pub(crate) fn envelope(&self) -> Result<Envelope> {
        let mut envelope = Envelope::new();
        if let Some(path) = &self.envelope {
            let file = File::read(path)?;
            let wrong = |error: &dyn std::fmt::Display| {
                Failure::new(
                    Exit::Input,
                    format_args!("`{}` is not an envelope: {error}", file.name()),
                )
            };
            let wire: WireEnvelope =
                serde_json::from_value(file.value()?).map_err(|error| wrong(&error))?;
            envelope = Envelope::try_from(wire).map_err(|error| wrong(&error))?;
        }
        if let Some(path) = &self.input_file {
            let file = File::read(path)?;
            match file.value()? {
                Value::Object(vars) => envelope.vars.extend(vars),
                _ => {
                    return Err(Failure::new(
                        Exit::Input,
                        format_args!("`{}` is not an object with variables", file.name()),
                    ));
                }
            }
        }
        for input in &self.inputs {
            envelope.vars.extend(variables(input)?);
        }
        Ok(envelope)
    }
}

/// The variables of an option: `NAME=VALUE`, or an object in JSON.
pub(crate) fn variables(input: &str) -> Result<Map<String, Value>> {
    if input.trim_start().starts_with('{') {
        return match serde_json::from_str(input) {
            Ok(Value::Object(vars)) => Ok(vars),
            Ok(_) => unreachable!("a value that begins with a brace is an object"),
            Err(error) => Err(Failure::new(
                Exit::Input,
                format_args!("`--input` is not JSON: {error}"),
            )),
        };
    }
    let (name, value) = input
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| {
            Failure::new(
                Exit::Input,
                format_args!("`--input {input}` names no variable"),
            )
            .hint("write `--input NAME=VALUE`, or a JSON object")
        })?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok(Map::from_iter([(name.to_owned(), value)]))
}

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A summary for people.
    #[default]
    Pretty,
    /// The envelope in JSON.
    Json,
    /// The value of one variable: `output`, or the one that `--var` names.
    Text,
}

/// Where and how a result is printed.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ResultArgs {
    /// How the result is printed
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Print only the value of this variable
    #[arg(long, value_name = "NAME")]
    pub(crate) var: Option<String>,

    /// Write the result to a file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print the events of the run as lines of JSON; the last one has the result
    #[arg(long, conflicts_with_all = ["format", "var"])]
    pub(crate) json: bool,
}

impl ResultArgs {
    /// Checks that the file can be created. After a long run its result would be lost.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(file) = &self.output else {
            return Ok(());
        };
        let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
        match folder {
            Some(folder) if !folder.is_dir() => Err(Failure::new(
                Exit::File,
                format_args!(
                    "`{}` cannot be written: there is no folder `{}`",
                    file.display(),
                    folder.display()
                ),
            )),
            _ if file.is_dir() => Err(Failure::new(
                Exit::File,
                format_args!("`{}` cannot be written: it is a folder", file.display()),
            )),
            _ => Ok(()),
        }
    }

    /// Prints a result.
    pub(crate) fn print(&self, envelope: &Envelope) -> Result<()> {
        let text = match self.format {
            Format::Json if self.var.is_none() => terminal::pretty(&WireEnvelope::from(envelope))?,
            Format::Pretty if self.var.is_none() => pretty(envelope),
            _ => self.variable(envelope)?,
        };
        terminal::output(self.output.as_deref(), &text)
    }

    /// Writes the envelope to the file, if there is one. The events have been printed.
    pub(crate) fn write(&self, envelope: &Envelope) -> Result<()> {
        match &self.output {
            None => Ok(()),
            Some(file) => terminal::output(
                Some(file),
                &terminal::pretty(&WireEnvelope::from(envelope))?,
            ),
        }
    }

    fn variable(&self, envelope: &Envelope) -> Result<String> {
        let name = self.var.as_deref().unwrap_or("output");
        let value = envelope.get_var_nested(name).ok_or_else(|| {
            let names: Vec<&str> = envelope.vars.keys().map(String::as_str).collect();
            Failure::new(
                Exit::Failed,
                format_args!("the result has no variable `{name}`"),
            )
            .hint(format_args!(
                "it has: {}. Choose one with `--var NAME`",
                names.join(", ")
            ))
        })?;
        match self.format {
            Format::Json => terminal::pretty(value),
            _ => Ok(plain(value)),
        }
    }
}

/// An envelope for people.
pub(crate) fn pretty(envelope: &Envelope) -> String {
    let mut text = String::new();
    let mut names: Vec<&String> = envelope.vars.keys().collect();
    names.sort();
    for name in names {
        let _ = writeln!(
            text,
            "{STRONG}{name}:{STRONG:#} {}",
            plain(&envelope.vars[name])
        );
    }
    if !envelope.messages.is_empty() {
        let _ = writeln!(text, "\nMessages ({}):", envelope.messages.len());
        envelope
            .messages
            .iter()
            .for_each(|message| push_message(&mut text, message));
    }
    if !envelope.artifacts.is_empty() {
        let _ = writeln!(text, "\nArtifacts ({}):", envelope.artifacts.len());
        for artifact in &WireEnvelope::from(envelope).artifacts {
            let _ = writeln!(text, "  {} ({})", artifact.id, artifact.kind);
        }
    }
    if !envelope.errors.is_empty() {
        let _ = writeln!(text, "\nErrors ({}):", envelope.errors.len());
        for error in &envelope.errors {
            let _ = writeln!(text, "  {}: {}", error.node, error.message);
        }
    }
    text
}

/// A message for people.
pub(crate) fn push_message(text: &mut String, message: &ChatMessage) {
    let role = serde_json::to_value(message.role).ok();
    let role = role.as_ref().and_then(Value::as_str).unwrap_or("message");
    let _ = writeln!(text, "  [{role}] {}", message.text());
}
