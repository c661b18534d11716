//! Reads documents from files, and finds out which kind they are.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;

use petalflow_conversations::document as conversation;
use petalflow_document_model::source::{Code, Diagnostics, Format, Pointer, Report, Severity};
use petalflow_documents::document;
use serde_json::Value;

use crate::exit::{Exit, Failure, Result};
use crate::terminal;

/// One byte more than a document may have, so that the checks report a file that is too large.
const MAX_BYTES: u64 = (2 << 20) + 1;

/// The text of a file, with its name.
#[derive(Clone, Debug)]
pub(crate) struct File {
    name: String,
    text: String,
    format: Format,
    /// That of the file, for those that it includes.
    folder: Option<PathBuf>,
}

/// What a document describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A graph, an agent workflow, or a text that cannot be read.
    Graph,
    /// A conversation flow.
    Conversation,
}

impl File {
    /// Reads a file. `-` is stdin; its text is YAML unless it begins with a brace or bracket.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let is_stdin = path == Path::new("-");
        let mut bytes = Vec::new();
        let read = if is_stdin {
            std::io::stdin().take(MAX_BYTES).read_to_end(&mut bytes)
        } else {
            std::fs::File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
        };
        let wrong = |error: &dyn std::fmt::Display| {
            Failure::new(
                Exit::File,
                format_args!("`{}` cannot be read: {error}", path.display()),
            )
        };
        read.map_err(|error| wrong(&error))?;
        let text = text(bytes).map_err(|error| {
            wrong(&error).hint("a document is text in UTF-8: save the file with this encoding")
        })?;
        let is_yaml = if is_stdin {
            let start = text.trim_start_matches('\u{feff}').trim_start();
            !start.starts_with(['{', '['])
        } else {
            terminal::is_yaml(path)
        };
        Ok(File {
            name: if is_stdin {
                "<stdin>".into()
            } else {
                path.display().to_string()
            },
            text,
            format: if is_yaml { Format::Yaml } else { Format::Json },
            folder: path.parent().filter(|_| !is_stdin).map(PathBuf::from),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The text as a graph or an agent workflow.
    pub(crate) fn graph_source(&self) -> document::Source {
        let source = document::Source::new(&self.name, &self.text).format(self.format);
        match &self.folder {
            Some(folder) => source.including_from(folder),
            None => source,
        }
    }

    /// The text as a conversation flow, or as plain data.
    pub(crate) fn conversation_source(&self) -> conversation::Source {
        let source = conversation::Source::new(&self.name, &self.text).format(self.format);
        match &self.folder {
            Some(folder) => source.including_from(folder),
            None => source,
        }
    }

    /// Finds out what the document describes, by its fields.
    pub(crate) fn kind(&self) -> Kind {
        let (kind, _) = self
            .conversation_source()
            .inspect(|value, _: &mut Report<DataCode>| Some(kind_of(value)));
        kind.unwrap_or(Kind::Graph)
    }

    /// What the loader refuses, each at the setting or the node that it names.
    pub(crate) fn located(&self, problems: &[String]) -> Diagnostics<DataCode> {
        let (_, found) =
            self.conversation_source()
                .inspect(|value, report: &mut Report<DataCode>| {
                    for problem in problems {
                        report.add(DataCode::Load, place_of(value, problem), problem);
                    }
                    Some(())
                });
        found
    }

    /// The value of a text that is data, such as variables.
    pub(crate) fn value(&self) -> Result<Value> {
        let (value, found): (_, Diagnostics<DataCode>) = self
            .conversation_source()
            .inspect(|value, _| Some(value.clone()));
        match value {
            Some(value) if !found.has_errors() => Ok(value),
            _ => Err(Failure::new(Exit::Input, found)),
        }
    }
}

/// The text of a file. The end of a file that is too large can be within a character, and is replaced.
fn text(bytes: Vec<u8>) -> std::result::Result<String, Utf8Error> {
    String::from_utf8(bytes).or_else(|error| {
        let is_cut = error.as_bytes().len() as u64 == MAX_BYTES;
        match error.utf8_error() {
            found if is_cut && found.error_len().is_none() => {
                Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
            }
            found => Err(found),
        }
    })
}

/// The first node of a graph that a message names, or the setting of it that follows, or else the document.
fn place_of(value: &Value, message: &str) -> Pointer {
    let nodes = value["nodes"].as_array();
    let index = |name: &str| nodes?.iter().position(|node| node["id"] == name);
    let mut quoted = message.split('`').skip(1).step_by(2);
    let Some(node) = quoted.find_map(index) else {
        return Pointer::root();
    };
    let at = Pointer::root().name("nodes").item(node);
    let config = &value["nodes"][node]["config"];
    let path = quoted.next().filter(|_| message.starts_with("node `"));
    path.and_then(|path| setting(config, path, &at.name("config")))
        .unwrap_or(at)
}

/// The place of a setting such as `checks[0].pattern`, if it is there.
fn setting(config: &Value, path: &str, at: &Pointer) -> Option<Pointer> {
    let names = path.split(['.', '[', ']']).filter(|name| !name.is_empty());
    let found = names
        .into_iter()
        .try_fold((config, at.clone()), |(value, at), name| {
            Some(match value {
                Value::Array(items) => {
                    let index = name.parse().ok()?;
                    (items.get(index)?, at.item(index))
                }
                value => (value.get(name)?, at.name(name)),
            })
        });
    found.map(|(_, at)| at)
}

fn kind_of(value: &Value) -> Kind {
    // Graphs and agent workflows say what they are, in whatever form their nodes are.
    if value.get("kind").is_some() && value.get("initial_node").is_none() {
        return Kind::Graph;
    }
    let Some(nodes) = value.get("nodes") else {
        return if value.get("initial_node").is_some() {
            Kind::Conversation
        } else {
            Kind::Graph
        };
    };
    // The editor has a name in `meta`, and what a node does in `data`. A graph has its `id` and the `config` of nodes.
    let is_editor =
        value.get("meta").is_some() || nodes.get(0).is_some_and(|node| node.get("data").is_some());
    if nodes.is_object()
        || value.get("initial_node").is_some()
        || (is_editor && value.get("id").is_none())
    {
        Kind::Conversation
    } else {
        Kind::Graph
    }
}

/// The codes of mistakes in plain data, and of problems that only the loader finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DataCode {
    Syntax,
    TooLarge,
    WrongValue,
    DuplicateName,
    /// The loader refuses the graph.
    Load,
}

impl Code for DataCode {
    const SYNTAX: Self = DataCode::Syntax;
    const TOO_LARGE: Self = DataCode::TooLarge;
    const WRONG_VALUE: Self = DataCode::WrongValue;
    const DUPLICATE_NAME: Self = DataCode::DuplicateName;

    fn as_str(&self) -> &'static str {
        match self {
            DataCode::Syntax => "DC-001",
            DataCode::DuplicateName => "DC-002",
            DataCode::TooLarge => "DC-003",
            DataCode::WrongValue => "DC-007",
            DataCode::Load => "CL-001",
        }
    }

    fn severity(&self) -> Severity {
        Severity::Error
    }
}
