//! Documents that were read and checked.

use std::path::Path;

use petalflow_conversation_document::{self as conversation, Checked};
use petalflow_documents::{Catalog, Definition, GraphDefinition};
use petalflow_envelope::builder::EnvelopeFlow;
use petalflow_envelope::documents::{Services, load};

use crate::diagnostics::Findings;
use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::services::placeholders;

/// Reads a graph or an agent workflow. Warnings go to stderr.
pub(crate) fn graph(path: &Path, catalog: &Catalog) -> Result<(File, Definition)> {
    graph_of(File::read(path)?, catalog)
}

/// Like [`graph`], for a file that has been read.
pub(crate) fn graph_of(file: File, catalog: &Catalog) -> Result<(File, Definition)> {
    if file.kind() == Kind::Conversation {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is a conversation flow", file.name()),
        )
        .hint("talk with it: `petalflow chat FILE`"));
    }
    let document = file
        .graph()
        .check(catalog)
        .map_err(|found| invalid(&Findings::of(&found), &file))?;
    Findings::of(&document.warnings).note();
    Ok((file, document.definition))
}

/// Reads a conversation flow. Warnings go to stderr.
pub(crate) fn conversation(path: &Path) -> Result<(File, Checked)> {
    conversation_of(File::read(path)?)
}

/// Like [`conversation`], for a file that has been read.
pub(crate) fn conversation_of(file: File) -> Result<(File, Checked)> {
    if file.kind() != Kind::Conversation {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is not a conversation flow", file.name()),
        )
        .hint("graphs and agent workflows run with `petalflow run FILE`"));
    }
    let checked = conversation::check(&file.source())
        .map_err(|found| invalid(&Findings::of(&found), &file))?;
    Findings::of(&checked.warnings).note();
    Ok((file, checked))
}

fn invalid(findings: &Findings, file: &File) -> Failure {
    findings.note();
    Failure::new(
        Exit::Invalid,
        format_args!("`{}` has {findings}", file.name()),
    )
}

/// What the loader advises to programs in Rust.
const ADVICE: [&str; 4] = [
    ": add it with `Services::tool`",
    ": add one with `Services::function`",
    ": add one with `Services::model`",
    ": add one with `Services::any_model`",
];

/// Builds the nodes of a graph.
pub(crate) fn flow(graph: &GraphDefinition, services: &Services) -> Result<EnvelopeFlow> {
    load(graph, services).map_err(|error| {
        let text = error.to_string();
        let plain = ADVICE
            .iter()
            .fold(text.clone(), |text, advice| text.replace(advice, ""));
        let failure = Failure::new(Exit::Missing, &plain);
        if text.contains(ADVICE[0]) || text.contains(ADVICE[1]) {
            failure.hint("give the program of a tool or a function with `--tool NAME=COMMAND`")
        } else if text != plain {
            failure.hint("give the replies with `--script FILE`, or name a model")
        } else {
            failure
        }
    })
}

/// Builds a graph that cannot run, to check or to draw it.
pub(crate) fn flow_without_services(
    graph: &GraphDefinition,
) -> std::result::Result<EnvelopeFlow, Vec<String>> {
    let mut graph = graph.clone();
    if cfg!(not(feature = "http")) {
        // The type is known, and what it does has no effect here.
        for node in graph
            .nodes
            .iter_mut()
            .filter(|node| node.kind == "webhook_call")
        {
            "noop".clone_into(&mut node.kind);
            node.config.clear();
        }
    }
    let services = placeholders(&graph.needs());
    load(&graph, &services).map_err(|error| error.problems().to_vec())
}
