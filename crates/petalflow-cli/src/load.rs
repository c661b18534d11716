//! Reads and checks documents, and builds flows of them.

use std::path::Path;

use petalflow_conversations::document::{self as conversation, Checked};
use petalflow_documents::builder::EnvelopeFlow;
use petalflow_documents::document::{Catalog, Definition, ReadGraph};
use petalflow_documents::{Services, load};

use crate::diagnostics::Findings;
use crate::document::{File, Kind};
use crate::exit::{Exit, Failure, Result};
use crate::services::placeholders;
use crate::words;

/// Reads and checks a graph or an agent workflow. Warnings go to stderr.
pub(crate) fn read_graph(path: &Path, catalog: &Catalog) -> Result<ReadGraph> {
    check_graph(&File::read(path)?, catalog)
}

/// Like [`read_graph`], for a file that has been read.
pub(crate) fn check_graph(file: &File, catalog: &Catalog) -> Result<ReadGraph> {
    expect_graph(file)?;
    let read = file
        .graph_source()
        .read_graph(catalog)
        .map_err(|found| invalid(&Findings::of(&found), file))?;
    Findings::of(&read.warnings).note();
    Ok(read)
}

/// Like [`read_graph`], and does not compile a workflow.
pub(crate) fn read_definition(path: &Path, catalog: &Catalog) -> Result<(File, Definition)> {
    let file = File::read(path)?;
    expect_graph(&file)?;
    let document = file
        .graph_source()
        .check(catalog)
        .map_err(|found| invalid(&Findings::of(&found), &file))?;
    Findings::of(&document.warnings).note();
    Ok((file, document.definition))
}

fn expect_graph(file: &File) -> Result<()> {
    if file.kind() == Kind::Conversation {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is a conversation flow", file.name()),
        )
        .hint("talk with it: `petalflow chat FILE`"));
    }
    Ok(())
}

/// Reads and checks a conversation flow. Warnings go to stderr.
pub(crate) fn read_conversation(path: &Path) -> Result<(File, Checked)> {
    check_conversation(File::read(path)?)
}

/// Like [`read_conversation`], for a file that has been read.
pub(crate) fn check_conversation(file: File) -> Result<(File, Checked)> {
    if file.kind() != Kind::Conversation {
        return Err(Failure::new(
            Exit::WrongKind,
            format_args!("`{}` is not a conversation flow", file.name()),
        )
        .hint("graphs and agent workflows run with `petalflow run FILE`"));
    }
    let checked = conversation::check(&file.conversation_source())
        .map_err(|found| invalid(&Findings::of(&found), &file))?;
    Findings::of(&checked.warnings).note();
    Ok((file, checked))
}

fn invalid(findings: &Findings, file: &File) -> Failure {
    findings.note();
    let message = format_args!("`{}` has {findings}", file.name());
    Failure {
        diagnostics: findings.to_json(),
        ..Failure::new(Exit::Invalid, message)
    }
}

/// Builds the nodes of a graph.
pub(crate) fn build(graph: ReadGraph, services: &Services) -> Result<EnvelopeFlow> {
    load(graph, services).map_err(|error| Failure::new(Exit::Missing, error))
}

/// Builds a graph with placeholders for models and tools, to check or to draw it.
pub(crate) fn build_without_services(
    mut graph: ReadGraph,
) -> std::result::Result<EnvelopeFlow, Vec<String>> {
    if cfg!(not(feature = "http")) {
        // Without the feature the loader refuses this type. The node is not run here, so a no-op replaces it.
        for node in graph
            .definition
            .nodes
            .iter_mut()
            .filter(|node| node.kind == "webhook_call")
        {
            "noop".clone_into(&mut node.kind);
        }
    }
    let services = placeholders(&graph.definition.needs());
    load(graph, &services).map_err(|error| {
        let problems = error.problems().iter();
        problems.map(|it| words::of_command_line(it)).collect()
    })
}
