//! Draws documents.

use std::collections::HashMap;
use std::path::PathBuf;

use petalflow_conversation_document::{Conversation, Function, Next};
use petalflow_graph::{Edge, Graph, Node, NodeIdx, Source, Target, Via};

use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::services::ServiceArgs;
use crate::{loaded, terminal};

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
    let graph = if file.kind() == Kind::Conversation {
        let (_, checked) = loaded::conversation_of(file)?;
        of_conversation(&checked.conversation)
    } else {
        let catalog = ServiceArgs::default().catalog();
        let (file, definition) = loaded::graph_of(file, &catalog)?;
        let flow =
            loaded::flow_without_services(&definition.graph(&catalog)).map_err(|problems| {
                Failure::new(
                    Exit::Invalid,
                    format_args!(
                        "the graph of `{}` cannot be built: {}",
                        file.name(),
                        problems.join("; ")
                    ),
                )
            })?;
        flow.launch().graph()
    };
    let extension = args
        .output
        .as_deref()
        .and_then(|file| file.extension()?.to_str());
    let format = args.format.unwrap_or(match extension {
        Some("svg") => Format::Svg,
        Some("dot" | "gv") => Format::Dot,
        _ => Format::Mermaid,
    });
    let drawing = match format {
        Format::Mermaid => petalflow_graph::mermaid(&graph),
        Format::Dot => petalflow_graph::dot(&graph),
        Format::Svg => petalflow_graph::picture(&graph),
    };
    terminal::output(args.output.as_deref(), &drawing)?;
    Ok(Exit::Done)
}

/// The nodes of a conversation, and an edge for each way in which a function leads to another node.
fn of_conversation(conversation: &Conversation) -> Graph {
    let names = conversation.nodes.keys();
    let index: HashMap<&str, NodeIdx> = names
        .enumerate()
        .map(|(index, name)| (name.as_str(), NodeIdx::from_usize(index)))
        .collect();
    let mut edges = Vec::new();
    let mut lead = |from: Source, via: Via, to: &str| {
        if let Some(&to) = index.get(to) {
            edges.push(Edge {
                from,
                via,
                to: Target::Node(to),
            });
        }
    };
    lead(Source::Start, Via::Plain, &conversation.initial_node);
    for (name, node) in &conversation.nodes {
        let from = Source::Node(index[name.as_str()]);
        for function in conversation.global_functions.iter().chain(&node.functions) {
            ways(function)
                .into_iter()
                .for_each(|(label, to)| lead(from, Via::Route(label.into()), to));
        }
    }
    for (name, node) in &conversation.nodes {
        if node
            .post_actions
            .iter()
            .any(|action| action.kind == "end_conversation")
        {
            let from = Source::Node(index[name.as_str()]);
            edges.push(Edge {
                from,
                via: Via::Plain,
                to: Target::End,
            });
        }
    }
    Graph {
        nodes: conversation
            .nodes
            .keys()
            .map(|name| Node::named(name.clone()))
            .collect(),
        edges: edges.into(),
        joins: 0,
    }
}

/// Where a function leads, with what is written at the edge.
fn ways(function: &Function) -> Vec<(String, &str)> {
    let name = &function.name;
    match &function.next {
        Next::Stay => Vec::new(),
        Next::Node(node) => vec![(name.clone(), node)],
        Next::Branch(branch) => {
            let cases = branch
                .cases
                .iter()
                .map(|(case, node)| (format!("{name}: {case}"), node.as_str()));
            let default = branch
                .default
                .iter()
                .map(|node| (format!("{name}: else"), node.as_str()));
            cases.chain(default).collect()
        }
        Next::Decision(decision) => {
            let conditions = decision.conditions.iter().map(|it| {
                (
                    format!("{name} {} {}", operator(it.operator), it.value),
                    it.node.as_str(),
                )
            });
            conditions
                .chain([(format!("{name}: else"), decision.default.as_str())])
                .collect()
        }
    }
}

/// An operator as the document writes it.
fn operator(operator: petalflow_conversation_document::decision::Operator) -> String {
    let json = serde_json::to_value(operator).unwrap_or_default();
    crate::answers::plain(&json)
}
