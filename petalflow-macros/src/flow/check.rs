//! What is wrong with the graph that was written. Only reads the model.

use petalflow_graph::{Analysis, Diagnostic, Graph, Location, Rule, check_with, messages, similar};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;

use super::ast::Mistakes;
use super::model::{Kind, Model};
use crate::options;

/// Every rule that needs nothing but the flow itself.
pub(crate) fn all(
    name: &Ident,
    model: &Model,
    graph: &Graph,
    analysis: &Analysis,
    mistakes: &mut Mistakes,
) {
    options_are_known(model, mistakes);
    value_names_are_free(model, mistakes);
    // Where edges are missing because of another mistake, the graph says nothing about what was meant.
    if !mistakes.lost {
        graph_rules(name, model, graph, analysis, mistakes);
    }
}

/// What `with` takes.
const NODE_OPTIONS: [&str; 5] = ["retry", "timeout", "idle", "cache", "id"];

/// PF024.
fn options_are_known(model: &Model, mistakes: &mut Mistakes) {
    for (name, value) in model.nodes.iter().flat_map(|node| &node.options) {
        let written = name.unraw().to_string();
        let read = match &*written {
            "retry" => options::retries(value, &TokenStream::new()).map(drop),
            "timeout" | "idle" | "cache" => options::duration(value).map(drop),
            "id" => options::node_id(value).map(drop),
            "keep" => Err(syn::Error::new(
                name.span(),
                messages::coded(Rule::Option, &messages::keep_beside_in()),
            )),
            _ => {
                let similar = similar(&written, NODE_OPTIONS.into_iter());
                let text = messages::unknown_option(&written, similar, &NODE_OPTIONS);
                Err(syn::Error::new(
                    name.span(),
                    messages::coded(Rule::Option, &text),
                ))
            }
        };
        read.unwrap_or_else(|error| mistakes.errors.push(error));
    }
}

/// The methods of the builder: a node value cannot have the name of one, because its setter is a method too.
const BUILDER_METHODS: [&str; 18] = [
    "new",
    "run",
    "launch",
    "store",
    "graph",
    "limit",
    "max_concurrency",
    "timeout",
    "superstep_timeout",
    "cancel_with",
    "manage",
    "manage_shared",
    "manage_with",
    "rehydrate",
    "cache",
    "middleware",
    "run_middleware",
    "continue_on_error",
];

/// Whether the builder has a method of this name.
pub(crate) fn is_method(name: &Ident) -> bool {
    BUILDER_METHODS.contains(&&*name.unraw().to_string())
}

fn value_names_are_free(model: &Model, mistakes: &mut Mistakes) {
    for node in &model.nodes {
        if let Kind::Value(name, _) = &node.kind
            && is_method(name)
        {
            mistakes.errors.at(name, format_args!("a node value cannot be called `{0}`: the builder has a method `{0}`; give it another name", node.name));
        }
    }
}

/// The rules that `flow!` shares with the run-time builder.
fn graph_rules(
    name: &Ident,
    model: &Model,
    graph: &Graph,
    analysis: &Analysis,
    mistakes: &mut Mistakes,
) {
    for diagnostic in check_with(graph, &analysis.declared) {
        report(name, model, &diagnostic, mistakes);
    }
}

fn report(name: &Ident, model: &Model, diagnostic: &Diagnostic, mistakes: &mut Mistakes) {
    let at = match diagnostic.at {
        // Names are unique by now, so it is the name in checkpoints that is taken.
        Location::Node(node) if diagnostic.rule == Rule::DuplicateNode => model.nodes[node.index()]
            .option("id")
            .map(ToTokens::to_token_stream),
        _ => None,
    };
    let at = at.unwrap_or_else(|| tokens_at(name, model, diagnostic.at));
    mistakes.errors.at(at, diagnostic);
    for (site, text) in &diagnostic.also {
        mistakes.errors.at(tokens_at(name, model, *site), text);
    }
}

fn tokens_at(name: &Ident, model: &Model, site: Location) -> TokenStream {
    match site {
        Location::Graph => name.to_token_stream(),
        Location::Node(node) => model.nodes[node.index()].at.clone(),
        Location::Edge(edge) => model.edges[edge].at.clone(),
        Location::Join(join) => model.joins[join.index()].clone(),
    }
}
