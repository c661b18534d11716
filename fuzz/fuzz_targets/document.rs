//! A document in JSON or YAML, from any text: its diagnostics, its graph, and its templates.
#![no_main]

use petalflow_document_model::documents::template::Template;
use petalflow_document_model::documents::{Catalog, Format, Source};

libfuzzer_sys::fuzz_target!(|input: (bool, &str)| {
    let (is_yaml, text) = input;
    let format = if is_yaml { Format::Yaml } else { Format::Json };
    let source = Source::new("document", text).format(format);
    let (definition, diagnostics) = source.inspect(&Catalog::default());
    if let Some(definition) = definition {
        let graph = definition.graph(&Catalog::default());
        for node in &graph.nodes {
            drop(node.settings());
        }
        drop(graph.needs());
    }
    for diagnostic in &diagnostics {
        assert!(diagnostic.position.is_some());
    }
    drop(Template::parse(text));
});
