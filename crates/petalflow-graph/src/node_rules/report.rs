//! Compile errors from constant evaluation: each function panics, at its caller, with the message of the broken rule.

use super::verdict::Verdict;
#[cfg(feature = "analysis")]
use crate::diagnostic::{Diagnostic, Location};
use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::messages::{self, with_code};
use crate::rule::Rule;
use crate::similar::{same, similar_in};
use crate::text::Text;

/// Panics if the node breaks a rule. Generated code calls it in one `const _` per node, with the span of its name.
///
/// # Panics
///
/// With the message of the first rule that is broken.
#[track_caller]
pub const fn report(
    node: NodeIdx,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    verdict: &Verdict,
) {
    if let Some((rule, text)) = verdict.text(node, keys, nodes) {
        panic_with(rule, &text);
    }
}

/// Panics if the edges of a node do not match its routes. Generated code calls it in one `const _` per node, with the span of its
/// name.
///
/// `arms` are the names of the routes that have edges. `plain` is whether the node has plain edges.
///
/// # Panics
///
/// With the message of PF012, PF014 or PF015. [`report_arm`] reports an arm for an unknown route. Then no route is reported as
/// missing.
#[track_caller]
pub const fn report_routes(node: &NodeFacts<'_>, arms: &[&str], plain: bool) {
    if let Some((rule, text)) = routes_text(node, arms, plain) {
        panic_with(rule, &text);
    }
}

/// Panics if the node has no route of this name. Generated code calls it in one `const _` per arm, with the span of the name.
///
/// # Panics
///
/// With the message of PF013.
#[track_caller]
pub const fn report_arm(node: &NodeFacts<'_>, arm: &str) {
    if let Some((rule, text)) = arm_text(node, arm) {
        panic_with(rule, &text);
    }
}

/// [`report_routes`] and [`report_arm`] for the run-time builder. `arms` has the names of routes with the locations of their
/// edges.
#[cfg(feature = "analysis")]
pub fn route_diagnostics(
    at: NodeIdx,
    node: &NodeFacts<'_>,
    arms: &[(&str, Location)],
    plain: bool,
) -> Vec<Diagnostic> {
    let names: Vec<&str> = arms.iter().map(|(name, _)| *name).collect();
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    if let Some((rule, text)) = routes_text(node, &names, plain) {
        diagnostics.push(Diagnostic::new(rule, Location::Node(at), text.as_str()));
    }
    for (i, (arm, location)) in arms.iter().enumerate() {
        // An arm with several targets has several edges, but is one mistake.
        if names[..i].contains(arm) {
            continue;
        }
        if let Some((rule, text)) = arm_text(node, arm) {
            diagnostics.push(Diagnostic::new(rule, *location, text.as_str()));
        }
    }
    diagnostics
}

const fn routes_text(node: &NodeFacts<'_>, arms: &[&str], plain: bool) -> Option<(Rule, Text)> {
    if !node.has_route {
        return if arms.is_empty() {
            None
        } else {
            Some((Rule::NoRoute, messages::no_route(node.name)))
        };
    }
    if plain {
        return Some((
            Rule::PlainBesideRoute,
            messages::plain_beside_route(node.name),
        ));
    }
    let mut arm = 0;
    while arm < arms.len() {
        if position(arms[arm], node.routes).is_none() {
            return None;
        }
        arm += 1;
    }
    let mut route = 0;
    while route < node.routes.len() {
        if position(node.routes[route], arms).is_none() {
            return Some((
                Rule::MissingRoute,
                messages::missing_routes(node.name, node.routes, arms),
            ));
        }
        route += 1;
    }
    None
}

const fn arm_text(node: &NodeFacts<'_>, arm: &str) -> Option<(Rule, Text)> {
    // A node that does not choose is reported once, at the node.
    if !node.has_route || position(arm, node.routes).is_some() {
        return None;
    }
    Some((
        Rule::UnknownRoute,
        messages::unknown_route(node.name, arm, similar_in(arm, node.routes), node.routes),
    ))
}

const fn position(name: &str, names: &[&str]) -> Option<usize> {
    let mut i = 0;
    while i < names.len() {
        if same(name, names[i]) {
            return Some(i);
        }
        i += 1;
    }
    None
}

#[track_caller]
const fn panic_with(rule: Rule, text: &Text) -> ! {
    panic!("{}", with_code(rule, text).as_str())
}
