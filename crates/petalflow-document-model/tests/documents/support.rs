//! Shared helpers for the tests.

use petalflow_document_model::documents::{Catalog, Definition, Diagnostics, Source};

/// The codes of all diagnostics, in the order of the text.
pub(crate) fn codes(name: &str, text: &str) -> Vec<&'static str> {
    let (_, diagnostics) = Source::new(name, text).inspect(&Catalog::default());
    diagnostics.iter().map(|it| it.code.as_str()).collect()
}

/// The diagnostics of a document.
pub(crate) fn inspect(name: &str, text: &str) -> (Option<Definition>, Diagnostics) {
    Source::new(name, text).inspect(&Catalog::default())
}

/// A document without errors.
pub(crate) fn definition(name: &str, text: &str) -> Definition {
    let document = Source::new(name, text).check(&Catalog::default());
    document
        .unwrap_or_else(|errors| panic!("{errors}"))
        .definition
}

/// A graph in JSON with these nodes and edges.
pub(crate) fn graph(nodes: &str, edges: &str) -> String {
    format!(r#"{{"id":"g","version":"1","kind":"graph","nodes":[{nodes}],"edges":[{edges}]}}"#)
}

/// An edge in JSON.
pub(crate) fn edge(source: &str, target: &str) -> String {
    format!(
        r#"{{"source":"{source}","sourceHandle":"output","target":"{target}","targetHandle":"input"}}"#
    )
}
