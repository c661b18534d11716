//! The rules of a flow. They only read the model, and emit no code.

use petalflow_graph::{Analysis, Diagnostic, Graph, Location, Rule, check_with, messages};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::Expr;
use syn::ext::IdentExt as _;

use super::ast::Mistakes;
use super::model::{Kind, Misuse, Model, Problem};
use crate::errors::coded_at;
use crate::node::model::item;
use crate::options;

/// The input of the rules.
pub(crate) struct Cx<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) model: &'a Model,
    pub(crate) graph: &'a Graph,
    pub(crate) analysis: &'a Analysis,
}

/// The rules that do not depend on types, in the order in which violations are reported.
const RULES: &[fn(&Cx<'_>, &mut Mistakes)] = &[
    every_part_has_a_meaning,
    options_are_known,
    value_names_are_not_builder_methods,
    kept_states_are_of_one_thread,
    graph_rules_hold,
];

/// Checks the flow.
pub(crate) fn all(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    for rule in RULES {
        rule(cx, mistakes);
    }
}

/// PF004, PF005, PF006, PF014, PF015, PF024, PF026, and mistakes without a code: every part of the text has a meaning in
/// the graph.
fn every_part_has_a_meaning(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    for Misuse { at, problem } in &cx.model.misuses {
        let (rule, text) = misuse(problem);
        match rule {
            Some(rule) => mistakes.errors.rule(rule, at, text),
            None => mistakes.errors.at(at, text),
        }
        if let Problem::MatchedTwice { first, .. } | Problem::RouteTwice { first, .. } = problem {
            mistakes.errors.at(first, messages::first_written_here());
        }
    }
}

/// The rule that a misuse breaks, if there is one, and the message.
fn misuse(problem: &Problem) -> (Option<Rule>, String) {
    let coded = |rule, text: String| (Some(rule), text);
    let plain = |text: String| (None, text);
    match problem {
        Problem::OutOfEnd { to } => coded(Rule::OutOfEnd, messages::out_of_end(to)),
        Problem::EndInJoin => coded(Rule::OutOfEnd, messages::end_in_join()),
        Problem::IntoStart { from } => coded(Rule::IntoStart, messages::into_start(from)),
        Problem::MatchedTwice { node, .. } => {
            coded(Rule::DuplicateEdge, messages::matched_twice(node))
        }
        Problem::RouteTwice { node, route, .. } => {
            coded(Rule::DuplicateEdge, messages::route_twice(node, route))
        }
        Problem::CaughtByNoNode { to } => coded(Rule::Catch, messages::caught_by_no_node(to)),
        Problem::RepeatedOption { option } => {
            coded(Rule::Option, messages::repeated_option(option))
        }
        Problem::InterruptedTwice { side, node } => {
            coded(Rule::Option, messages::interrupted_twice(side, node))
        }
        Problem::DeferredTwice { node } => (
            Some(Rule::Option),
            format!("`{node}` is deferred twice; remove one of them"),
        ),
        Problem::StartChooses => (
            Some(Rule::NoRoute),
            "START does not choose a route; begin with a node that does, or lead to several nodes with `&`".to_owned(),
        ),
        Problem::JoinChooses { join } => (
            Some(Rule::NoRoute),
            format!("the join `{join}` does not choose a route; lead it into a node that does"),
        ),
        Problem::ChoiceBesideEdges { group } => (
            Some(Rule::PlainBesideRoute),
            format!("a node either chooses a route or takes all of its edges: `{group}` is a choice beside other edges; lead to a node that chooses"),
        ),
        Problem::StartInJoin => plain(
            "START cannot be a side of a join, because it always runs first: remove it from the join".to_owned(),
        ),
        Problem::ChoiceInJoin { group } => plain(format!(
            "a side of a join is one node: lead `{group}` into another node, and join that node"
        )),
        Problem::EachFromNoNode { from } => plain(format!(
            "`each` needs a node that returns the items, and `{from}` is not a node"
        )),
        Problem::StartToEnd => plain(
            "this edge leads from START to END, so no node would run; lead it to a node".to_owned(),
        ),
        Problem::EachEnd => plain(
            "`each` runs a node once per item, and END is not a node".to_owned(),
        ),
        Problem::UnnamedRoute { group } => plain(format!(
            "a route without a name has the name of its target, but `{group}` is a group; write every route with its name: `match {{ Name => {group}, .. }}`"
        )),
        Problem::MatchWithoutArms => plain(
            "this `match` has no arms: name every route of the node, such as `Publish => END`".to_owned(),
        ),
        Problem::ChoiceInArm { route, targets } => plain(format!(
            "route `{route}` leads to one node, or to several with `&`: `{route} => {}`",
            targets.join(" & ")
        )),
        Problem::AliasOfDeclared { node } => plain(format!(
            "`{node}` is declared in this flow, and only a function can have a second name: write the path of a function"
        )),
    }
}

/// The options of `with`.
const NODE_OPTIONS: [&str; 6] = ["retry", "timeout", "idle", "cache", "id", "remote"];

/// PF024: every option of `with` exists and has a valid value.
fn options_are_known(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    for node in &cx.model.nodes {
        for (name, value) in &node.options {
            option_is_known(name, value, mistakes);
        }
    }
}

fn option_is_known(name: &Ident, value: &Expr, mistakes: &mut Mistakes) {
    let written = name.unraw().to_string();
    let error = match &*written {
        "retry" => options::retries(value, &TokenStream::new()).err(),
        "timeout" | "idle" | "cache" => options::duration(value).err(),
        "id" | "remote" if options::text(value).is_some() => None,
        "id" => Some(coded_at(Rule::Option, value, messages::id_takes_text())),
        "remote" => Some(coded_at(Rule::Option, value, messages::remote_takes_text())),
        "keep" => Some(coded_at(Rule::Option, name, messages::keep_beside_in())),
        _ => {
            let meant = options::meant(&written, &NODE_OPTIONS);
            let text = messages::unknown_option(&written, meant, &NODE_OPTIONS);
            Some(coded_at(Rule::Option, name, text))
        }
    };
    if let Some(error) = error {
        mistakes.errors.push(error);
    }
}

/// The methods of the builder. A node value cannot have such a name, because its setter is also a method, and rustc would
/// report two methods of one name at the whole flow. A test compares this list with the builder.
const BUILDER_METHODS: [&str; 16] = [
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
    "manage_with",
    "cache",
    "middleware",
    "run_middleware",
    "continue_on_error",
];

/// Whether the builder has a method of this name.
pub(crate) fn is_method(name: &Ident) -> bool {
    BUILDER_METHODS.contains(&&*name.unraw().to_string())
}

fn value_names_are_not_builder_methods(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    for node in &cx.model.nodes {
        if let Kind::Value(name, _) = &node.kind
            && is_method(name)
        {
            mistakes.errors.at(name, format_args!("a node value cannot be called `{0}`: the builder has a method `{0}`; give it another name", node.name));
        }
    }
}

/// PF028: a sub-flow that takes an item, or whose results are cached, retains no state.
fn kept_states_are_of_one_thread(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    for node in &cx.model.nodes {
        let Kind::Subflow(subflow) = &node.kind else {
            continue;
        };
        if subflow.keep && item(&subflow.params).is_some() {
            let text = messages::kept_for_items(&node.name);
            mistakes.errors.rule(Rule::Keep, &node.at, text);
        }
        if let Some(cache) = node.option("cache").filter(|_| subflow.keep) {
            let text = messages::kept_and_cached(&node.name);
            mistakes.errors.rule(Rule::Keep, cache, text);
        }
    }
}

/// The rules that `flow!` shares with the run-time builder.
fn graph_rules_hold(cx: &Cx<'_>, mistakes: &mut Mistakes) {
    // If a mistake makes edges missing, the rules would report its consequences.
    if mistakes.lost {
        return;
    }
    for diagnostic in check_with(cx.graph, &cx.analysis.declared) {
        report(cx, &diagnostic, mistakes);
    }
}

fn report(cx: &Cx<'_>, diagnostic: &Diagnostic, mistakes: &mut Mistakes) {
    let at = match diagnostic.at {
        // Lowering reports repeated names, so this is a repeated `id`.
        Location::Node(node) if diagnostic.rule == Rule::DuplicateNode => {
            let id = cx.model.nodes[node.index()].option("id");
            id.map(ToTokens::to_token_stream)
        }
        _ => None,
    };
    let at = at.unwrap_or_else(|| tokens_at(cx, diagnostic.at));
    mistakes.errors.at(&at, diagnostic);
    for (location, text) in &diagnostic.also {
        mistakes.errors.at(tokens_at(cx, *location), text);
    }
}

fn tokens_at(cx: &Cx<'_>, location: Location) -> TokenStream {
    match location {
        Location::Graph => cx.name.to_token_stream(),
        Location::Node(node) => cx.model.nodes[node.index()].at.clone(),
        Location::Edge(edge) => cx.model.edges[edge].at.clone(),
        Location::Join(join) => cx.model.joins[join.index()].clone(),
    }
}
