//! The text of a graph document: it is read and checked.

use std::path::Path;

use serde_json::Value;

use crate::agent::AgentWorkflow;
use crate::catalog::Catalog;
use crate::diagnostic::{Code, Codes, Diagnostics, Report};
use crate::graph::GraphDefinition;
use crate::{rules, schemas};
use petalflow_source::{Format, Pointer, schema};

/// The text of a document.
///
/// ```
/// use petalflow_documents::{Catalog, Source};
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
pub struct Source(petalflow_source::Source);

impl Source {
    /// The text of a file. The format is YAML if the name ends with `.yaml` or `.yml`, and otherwise JSON.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source(petalflow_source::Source::new(name, text))
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not UTF-8.
    pub fn read(path: impl AsRef<Path>) -> std::io::Result<Self> {
        petalflow_source::Source::read(path).map(Source)
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

    /// Like [`check`](Self::check), but returns what can be read of a document with errors too. What is wrong is left out
    /// of it.
    ///
    /// ```
    /// use petalflow_documents::{Catalog, Definition, Source};
    ///
    /// let source = Source::new("g.json", r#"{"id": "g", "nodes": [{"id": "a"}], "edges": []}"#);
    /// let (definition, diagnostics) = source.inspect(&Catalog::default());
    /// assert!(matches!(definition, Some(Definition::Graph(graph)) if graph.nodes[0].id == "a"));
    /// assert_eq!(diagnostics.to_string(), "g.json:1:23: error[DC-006]: `type` is missing");
    /// ```
    pub fn inspect(&self, catalog: &Catalog) -> (Option<Definition>, Diagnostics) {
        self.0
            .inspect(|value, report| definition(value, catalog, report))
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
    /// use petalflow_documents::{Catalog, Code, EdgeDefinition, GraphDefinition};
    ///
    /// let mut graph = GraphDefinition { id: "g".into(), ..GraphDefinition::default() };
    /// graph.edges.push(EdgeDefinition::new("a", "b"));
    /// let diagnostics = graph.check(&Catalog::default());
    /// assert!(diagnostics.iter().all(|it| it.code == Code::UnknownNode && it.position.is_none()));
    /// ```
    pub fn check(&self, catalog: &Catalog) -> Diagnostics {
        check_value(serde_json::to_value(self), |value, report| {
            graph(value, catalog, report);
        })
    }
}

impl AgentWorkflow {
    /// Checks a workflow that was not read from a text.
    ///
    /// ```
    /// use petalflow_documents::{AgentWorkflow, Catalog, Code};
    ///
    /// let diagnostics = AgentWorkflow::default().check(&Catalog::default());
    /// assert!(diagnostics.iter().any(|it| it.code == Code::MissingInWorkflow && it.pointer == "/id"));
    /// ```
    pub fn check(&self, catalog: &Catalog) -> Diagnostics {
        check_value(serde_json::to_value(self), |value, report| {
            agents(value, catalog, report);
        })
    }
}

fn check_value(
    value: serde_json::Result<Value>,
    check: impl FnOnce(&Value, &mut Report),
) -> Diagnostics {
    let mut report = Report::default();
    // Only maps with other keys than texts cannot be written, and the types have none.
    check(&value.unwrap_or_default(), &mut report);
    Diagnostics::new(
        report
            .0
            .into_iter()
            .map(petalflow_source::Finding::into_diagnostic)
            .collect(),
    )
}

/// Decides by the kind, or else by the fields, what the document is, and checks it.
fn definition(value: &Value, catalog: &Catalog, report: &mut Report) -> Option<Definition> {
    let has = |name: &str| value.get(name).is_some();
    let kind = value
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default();
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
        agents(value, catalog, report).map(Definition::Agents)
    } else {
        graph(value, catalog, report).map(Definition::Graph)
    }
}

fn graph(value: &Value, catalog: &Catalog, report: &mut Report) -> Option<GraphDefinition> {
    const CODES: Codes = Codes {
        name: "field",
        unknown: Code::UnknownField,
        missing: Code::MissingField,
        wrong: |pointer| match pointer {
            "/kind" | "/schema_version" => Code::BadGraphFormat,
            _ => Code::WrongValue,
        },
    };
    let checked = schema::check(&schemas::GRAPH, value, &Pointer::root(), CODES, report);
    let graph: GraphDefinition = serde_json::from_value(checked).ok()?;
    rules::graph::check(&graph, catalog, report);
    Some(graph)
}

fn agents(value: &Value, catalog: &Catalog, report: &mut Report) -> Option<AgentWorkflow> {
    const CODES: Codes = Codes {
        name: "field",
        unknown: Code::UnknownField,
        missing: Code::MissingInWorkflow,
        wrong: |pointer| match pointer {
            "/kind" | "/schema_version" => Code::BadWorkflowFormat,
            "/execution/strategy" => Code::UnknownStrategy,
            _ => Code::WrongValue,
        },
    };
    let checked = schema::check(&schemas::AGENTS, value, &Pointer::root(), CODES, report);
    let workflow: AgentWorkflow = serde_json::from_value(checked).ok()?;
    rules::agent::check(&workflow, catalog, report);
    Some(workflow)
}
