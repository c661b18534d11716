//! The text of a graph document: it is read and checked.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::documents::agent::AgentWorkflow;
use crate::documents::catalog::Catalog;
use crate::documents::diagnostic::{Code, Codes, Diagnostics, Report};
use crate::documents::graph::{GraphDefinition, NodeDefinition};
use crate::documents::{needs, rules, schemas};
use crate::source::foreign::foreign;
use crate::source::schema::{self, Schema};
use crate::source::{Content, Finding, Format, Pointer};

/// The text of a document.
///
/// ```
/// use petalflow_document_model::documents::{Catalog, Source};
///
/// let text = r#"{
///   "id": "greeting", "version": "1.0", "kind": "graph",
///   "nodes": [{ "id": "greet", "type": "transfrom" }],
///   "edges": [{ "source": "greet", "target": "end" }]
/// }"#;
/// let errors = Source::new("greeting.graph.json", text).check(&Catalog::default()).unwrap_err();
/// let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
/// assert_eq!(lines, [
///     "greeting.graph.json:3:38: error[GR-003]: node `greet`: there is no node type or tool `transfrom`; did you mean `transform`?",
///     "greeting.graph.json:4:44: error[GR-001]: edge target `end` is not a node",
/// ]);
/// ```
#[derive(Clone, Debug)]
pub struct Source(crate::source::Source);

impl Source {
    /// The text of a file. The format is YAML if the name ends with `.yaml` or `.yml`, and otherwise JSON.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source(crate::source::Source::new(name, text))
    }

    /// Reads a file. YAML can include others, relative to its folder: see [`including_from`](Self::including_from).
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not UTF-8.
    pub fn read(path: impl AsRef<Path>) -> std::io::Result<Self> {
        crate::source::Source::read(path).map(Source)
    }

    /// The name that diagnostics use.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Sets the name that diagnostics use. The format does not change.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Source(self.0.named(name))
    }

    /// Sets the format.
    #[must_use]
    pub fn format(self, format: Format) -> Self {
        Source(self.0.format(format))
    }

    /// Lets YAML include files, relative to this folder: `!include FILE` is the value of that file. A text in a file of its own
    /// is a text.
    ///
    /// Any file that the process can read can be included. Do not set the folder for a document that others
    /// wrote.
    ///
    /// ```
    /// use petalflow_document_model::documents::Source;
    ///
    /// let source = Source::new("letters.yaml", "id: !include id.yaml").including_from("letters");
    /// assert_eq!(source.name(), "letters.yaml");
    /// ```
    #[must_use]
    pub fn including_from(self, folder: impl Into<PathBuf>) -> Self {
        Source(self.0.including_from(folder))
    }

    /// Lets YAML include these texts by their paths, in place of files.
    ///
    /// ```
    /// use petalflow_document_model::documents::Source;
    ///
    /// let source = Source::new("letters.yaml", "id: !include id.yaml").including([("id.yaml", "letters")]);
    /// assert_eq!(source.included(), ["id.yaml"]);
    /// ```
    #[must_use]
    pub fn including<P: Into<String>, T: Into<String>>(
        self,
        texts: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        Source(self.0.including(texts))
    }

    /// The paths of the files that the document includes, also indirectly, each once.
    pub fn included(&self) -> Vec<String> {
        self.0.included()
    }

    /// Reads and checks the document. It finds all that is wrong at once, except that a text that is not JSON or YAML is
    /// only checked up to there.
    ///
    /// The time and the memory are limited for any text: 2 MiB, 250,000 values with those that aliases repeat, 64 levels.
    ///
    /// # Errors
    ///
    /// All diagnostics, if one of them is an error.
    pub fn check(&self, catalog: &Catalog) -> Result<Document, Diagnostics> {
        match self.inspect(catalog) {
            (Some(definition), warnings) if !warnings.has_errors() => Ok(Document {
                definition,
                warnings,
            }),
            (_, diagnostics) => Err(diagnostics),
        }
    }

    /// Reads and checks the document as [`check`](Self::check) does, and keeps the settings of the nodes that the check has
    /// read.
    ///
    /// ```
    /// use petalflow_document_model::documents::{Catalog, Source};
    ///
    /// let text = r#"{ "id": "g", "version": "1", "kind": "graph", "nodes": [{ "id": "a", "type": "merge" }], "edges": [] }"#;
    /// let graph = Source::new("g.json", text).read_graph(&Catalog::default())?;
    /// assert_eq!(graph.settings[0], graph.definition.nodes[0].settings());
    /// # Ok::<(), petalflow_document_model::documents::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn read_graph(&self, catalog: &Catalog) -> Result<ReadGraph, Diagnostics> {
        match self.read_definition(catalog) {
            (Some(read), warnings) if !warnings.has_errors() => {
                Ok(read.into_graph(catalog, warnings))
            }
            (_, diagnostics) => Err(diagnostics),
        }
    }

    /// Like [`check`](Self::check), but returns what can be read of a document with errors too. What is wrong is left out
    /// of it.
    ///
    /// ```
    /// use petalflow_document_model::documents::{Catalog, Definition, Source};
    ///
    /// let source = Source::new("g.json", r#"{"id": "g", "nodes": [{"id": "a"}], "edges": []}"#);
    /// let (definition, diagnostics) = source.inspect(&Catalog::default());
    /// assert!(matches!(definition, Some(Definition::Graph(graph)) if graph.nodes[0].id == "a"));
    /// assert_eq!(diagnostics.to_string(), "g.json:1:23: error[DC-006]: `type` is missing");
    /// ```
    pub fn inspect(&self, catalog: &Catalog) -> (Option<Definition>, Diagnostics) {
        let (read, diagnostics) = self.read_definition(catalog);
        (read.map(Read::into_definition), diagnostics)
    }

    fn read_definition(&self, catalog: &Catalog) -> (Option<Read>, Diagnostics) {
        self.0
            .inspect_content(|content, report| definition(content, catalog, report))
    }
}

/// A checked graph and the settings of its nodes.
///
/// A definition that was made in Rust becomes one with `From`, which reads the settings and checks nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadGraph {
    /// The graph, compiled if the document is a workflow of agents.
    pub definition: GraphDefinition,
    /// The settings of each node, as [`NodeDefinition::settings`] returns them.
    pub settings: Vec<Map<String, Value>>,
    /// What is probably not as its author wants.
    pub warnings: Diagnostics,
}

impl From<GraphDefinition> for ReadGraph {
    fn from(definition: GraphDefinition) -> Self {
        let settings = definition.nodes.iter().map(NodeDefinition::settings);
        ReadGraph {
            settings: settings.collect(),
            definition,
            warnings: Diagnostics::default(),
        }
    }
}

impl From<&GraphDefinition> for ReadGraph {
    fn from(definition: &GraphDefinition) -> Self {
        definition.clone().into()
    }
}

/// What was read of a document.
enum Read {
    /// A graph, and the settings of its nodes as the check leaves them.
    Graph(GraphDefinition, Vec<Map<String, Value>>),
    Agents(AgentWorkflow),
}

impl Read {
    fn into_definition(self) -> Definition {
        match self {
            Read::Graph(graph, _) => Definition::Graph(graph),
            Read::Agents(workflow) => Definition::Agents(workflow),
        }
    }

    fn into_graph(self, catalog: &Catalog, warnings: Diagnostics) -> ReadGraph {
        match self {
            Read::Graph(definition, checked) => {
                let nodes = definition.nodes.iter().zip(checked);
                let settings = nodes.map(|(node, checked)| needs::to_types(&node.kind, checked));
                ReadGraph {
                    settings: settings.collect(),
                    definition,
                    warnings,
                }
            }
            Read::Agents(workflow) => ReadGraph {
                warnings,
                ..workflow.compile(catalog).into()
            },
        }
    }
}

/// A checked document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// What it defines.
    pub definition: Definition,
    /// What is probably not as its author wants.
    pub warnings: Diagnostics,
}

/// What a document defines.
#[derive(Clone, Debug, PartialEq)]
pub enum Definition {
    /// A graph.
    Graph(GraphDefinition),
    /// A workflow of agents.
    Agents(AgentWorkflow),
}

impl Document {
    /// The graph, compiled if the document is a workflow of agents.
    pub fn graph(&self, catalog: &Catalog) -> GraphDefinition {
        self.definition.graph(catalog)
    }
}

impl Definition {
    /// The graph, compiled if this is a workflow of agents.
    pub fn graph(&self, catalog: &Catalog) -> GraphDefinition {
        match self {
            Definition::Graph(graph) => graph.clone(),
            Definition::Agents(workflow) => workflow.compile(catalog),
        }
    }
}

impl GraphDefinition {
    /// Checks a definition that was not read from a text.
    ///
    /// ```
    /// use petalflow_document_model::documents::{Catalog, Code, EdgeDefinition, GraphDefinition};
    ///
    /// let mut graph = GraphDefinition { id: "g".into(), ..GraphDefinition::default() };
    /// graph.edges.push(EdgeDefinition::new("a", "b"));
    /// let diagnostics = graph.check(&Catalog::default());
    /// assert!(diagnostics.iter().all(|it| it.code == Code::UnknownNode && it.position.is_none()));
    /// ```
    pub fn check(&self, catalog: &Catalog) -> Diagnostics {
        let mut report = Report::default();
        if let Some(graph) = checked(self, &schemas::GRAPH, GRAPH_CODES, &mut report) {
            rules::graph::check(&graph, catalog, &mut report);
        }
        without_places(report)
    }
}

impl AgentWorkflow {
    /// Checks a workflow that was not read from a text.
    ///
    /// ```
    /// use petalflow_document_model::documents::{AgentWorkflow, Catalog, Code};
    ///
    /// let diagnostics = AgentWorkflow::default().check(&Catalog::default());
    /// assert!(diagnostics.iter().any(|it| it.code == Code::MissingInWorkflow && it.pointer == "/id"));
    /// ```
    pub fn check(&self, catalog: &Catalog) -> Diagnostics {
        let mut report = Report::default();
        if let Some(workflow) = checked(self, &schemas::AGENTS, AGENT_CODES, &mut report) {
            rules::agent::check(&workflow, catalog, &mut report);
        }
        without_places(report)
    }
}

/// What is right of a definition that was not read from a text.
fn checked<T: Serialize + DeserializeOwned>(
    definition: &T,
    schema: &Schema,
    codes: Codes,
    report: &mut Report,
) -> Option<T> {
    // Only maps with other keys than texts cannot be written, and the types have none.
    let value = serde_json::to_value(definition).unwrap_or_default();
    repaired(&value, schema, codes, report)
}

/// Reads what is right of a value.
fn repaired<T: DeserializeOwned>(
    value: &Value,
    schema: &Schema,
    codes: Codes,
    report: &mut Report,
) -> Option<T> {
    let checked = schema::check(schema.value(), value, &Pointer::root(), codes, report);
    serde_json::from_value(checked).ok()
}

fn without_places(report: Report) -> Diagnostics {
    let findings = report.0.into_iter();
    Diagnostics::new(findings.map(Finding::into_diagnostic).collect())
}

/// Decides by the kind, or else by the fields, what the document is, and checks it.
fn definition(content: Content<'_>, catalog: &Catalog, report: &mut Report) -> Option<Read> {
    if let Some(message) = foreign(content) {
        report.add(Code::UnknownDocument, Pointer::root(), message);
        return None;
    }
    let has = |name: &str| content.get(name).is_some();
    let kind = content.get("kind").map(Content::to_value);
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
    let is_agents = match kind {
        "agent_workflow" | "agent-workflow" => true,
        "graph" => false,
        _ if has("agents") || has("tasks") => true,
        _ if has("nodes") || has("edges") => false,
        _ => {
            let message = "the document is neither a graph (`nodes` and `edges`) nor an agent workflow (`agents`, `tasks` and `execution`)";
            report.add(Code::UnknownDocument, Pointer::root(), message);
            if !kind.is_empty() {
                rules::format::check(
                    kind,
                    "",
                    &["graph", "agent_workflow"],
                    Code::BadGraphFormat,
                    report,
                );
            }
            return None;
        }
    };
    if is_agents {
        let workflow: AgentWorkflow = read(content, &schemas::AGENTS, AGENT_CODES, report)?;
        rules::agent::check(&workflow, catalog, report);
        Some(Read::Agents(workflow))
    } else {
        let graph: GraphDefinition = read(content, &schemas::GRAPH, GRAPH_CODES, report)?;
        let settings = rules::graph::check(&graph, catalog, report);
        Some(Read::Graph(graph, settings))
    }
}

/// What is right of a document.
fn read<T: DeserializeOwned>(
    content: Content<'_>,
    schema: &Schema,
    codes: Codes,
    report: &mut Report,
) -> Option<T> {
    let read = content.read_valid(schema);
    read.or_else(|| repaired(&content.to_value(), schema, codes, report))
}

const GRAPH_CODES: Codes = Codes {
    name: "field",
    unknown: Code::UnknownField,
    missing: Code::MissingField,
    wrong: |pointer| match pointer {
        "/kind" | "/schema_version" => Code::BadGraphFormat,
        _ => Code::WrongValue,
    },
    null_is_absent: true,
};

const AGENT_CODES: Codes = Codes {
    name: "field",
    unknown: Code::UnknownField,
    missing: Code::MissingInWorkflow,
    wrong: |pointer| match pointer {
        "/kind" | "/schema_version" => Code::BadWorkflowFormat,
        "/execution/strategy" => Code::UnknownStrategy,
        _ => Code::WrongValue,
    },
    null_is_absent: true,
};
