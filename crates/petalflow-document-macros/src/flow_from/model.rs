//! The document, and what the generated type needs for it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use petalflow_document_model::documents::{Catalog, GraphDefinition, Source};
use petalflow_document_model::source::{Folders, included_files};

use crate::flow_from::ast::FlowFrom;

/// A document, as far as it could be read.
pub(crate) struct Model {
    /// The file, if there is one.
    pub(crate) file: Option<PathBuf>,
    /// The paths of the files that it includes, and the files.
    pub(crate) included: Vec<(String, String)>,
    /// The name of the type.
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) diagram: String,
    /// What the program supplies, in order.
    pub(crate) needs: Vec<Need>,
    pub(crate) errors: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

/// Something that the program supplies.
pub(crate) struct Need {
    pub(crate) kind: NeedKind,
    /// Its name in the document.
    pub(crate) name: String,
    /// The name of the field.
    pub(crate) field: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeedKind {
    Model,
    AnyModel,
    Tool,
    Human,
    Function,
}

impl Model {
    pub(crate) fn new(flow: &FlowFrom, folders: &Folders) -> Self {
        let path = flow.path.value();
        let mut model = Model {
            file: None,
            included: Vec::new(),
            name: flow
                .name
                .as_ref()
                .map_or_else(|| type_name(&path), ToString::to_string),
            id: String::new(),
            diagram: String::new(),
            needs: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        };
        let file = match folders.find(&path) {
            Ok(file) => model.file.insert(file),
            Err(error) => {
                model.errors.push(error);
                return model;
            }
        };
        let source = match Source::read(&*file) {
            Ok(source) => source.named(&path),
            Err(error) => {
                model
                    .errors
                    .push(format!("`{path}` cannot be read: {error}"));
                return model;
            }
        };
        model.included = included_files(file, source.included());
        let catalog = Catalog::default();
        let (definition, diagnostics) = source.inspect(&catalog);
        model.errors = diagnostics.errors().map(ToString::to_string).collect();
        model.warnings = diagnostics.warnings().map(ToString::to_string).collect();
        if let Some(definition) = definition {
            let graph = definition.graph(&catalog);
            model.needs = needs(&graph);
            model.diagram = diagram(&graph);
            model.id = graph.id;
        }
        model
    }
}

fn needs(graph: &GraphDefinition) -> Vec<Need> {
    let all = graph.needs();
    let mut used = HashSet::new();
    let mut needs = Vec::new();
    let mut add = |kind: NeedKind, name: &str, field: &str| {
        let mut field = field_name(field);
        while !used.insert(field.clone()) {
            field.push('_');
        }
        let name = name.to_owned();
        needs.push(Need { kind, name, field });
    };
    for provider in &all.providers {
        add(NeedKind::Model, provider, provider);
    }
    if all.any_model {
        add(NeedKind::AnyModel, "", "model");
    }
    for tool in &all.tools {
        add(NeedKind::Tool, tool, tool);
    }
    for node in &all.functions {
        add(NeedKind::Function, node, node);
    }
    if all.human {
        add(NeedKind::Human, "", "human");
    }
    needs
}

/// `greeting.graph.json` is `Greeting`.
fn type_name(path: &str) -> String {
    let file = Path::new(path)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let words = stem
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut name: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "Flow");
    }
    name
}

fn field_name(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let mut field: String = name.chars().map(plain).collect();
    if !field.starts_with(|c: char| c.is_ascii_alphabetic()) {
        field.insert_str(0, "the_");
    }
    // Keywords.
    if syn::parse_str::<syn::Ident>(&field).is_err() {
        field.push('_');
    }
    field
}

fn diagram(graph: &GraphDefinition) -> String {
    let mut lines = vec!["```text".to_owned()];
    let first = graph.entry().map(|entry| format!("START -> {entry}"));
    lines.extend(first);
    lines.extend(
        graph
            .edges
            .iter()
            .take(100)
            .map(|edge| format!("{} -> {}", edge.source, edge.target)),
    );
    lines.push("```".into());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{field_name, type_name};

    #[test]
    fn names_are_made_of_files_and_documents() {
        assert_eq!(type_name("flows/greeting.graph.json"), "Greeting");
        assert_eq!(type_name("web-hook_call.yaml"), "WebHookCall");
        assert_eq!(type_name("7up.json"), "Flow7up");
        assert_eq!(field_name("s3.list"), "s3_list");
        assert_eq!(field_name("type"), "type_");
    }
}
