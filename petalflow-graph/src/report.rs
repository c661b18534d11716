//! Compile errors from constant evaluation: each function panics with the wording of the rule that is broken, at its caller.

use crate::facts::{KeyFacts, NodeFacts};
use crate::idx::NodeIdx;
use crate::problem::{Problem, Site};
use crate::rule::Rule;
use crate::similar::{same, similar_in};
use crate::text::Text;
use crate::verdict::Verdict;
use crate::words::{self, coded};

/// Panics if something is wrong with the node: for one `const _` per node, spanned at its name.
///
/// # Panics
///
/// With the wording of the first rule that is broken.
#[track_caller]
#[inline]
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

/// Panics if the edges of a node do not fit the routes it chooses from: for one `const _` per node, spanned at its name.
///
/// `arms` are the names of the routes that have edges (none if the node has no route edges), `plain` says whether it has
/// plain edges.
///
/// # Panics
///
/// With the wording of PF012, PF014 or PF015. An arm that the node does not have is [`report_arm`]'s, and as long as there
/// is one no route is reported as missing.
#[track_caller]
#[inline]
pub const fn report_routes(node: &NodeFacts<'_>, arms: &[&str], plain: bool) {
    if let Some((rule, text)) = routes_text(node, arms, plain) {
        panic_with(rule, &text);
    }
}

/// Panics if the node has no route of this name: for one `const _` per arm, spanned at the name the user wrote.
///
/// # Panics
///
/// With the wording of PF013.
#[track_caller]
#[inline]
pub const fn report_arm(node: &NodeFacts<'_>, arm: &str) {
    if let Some((rule, text)) = arm_text(node, arm) {
        panic_with(rule, &text);
    }
}

/// [`report_routes`] and [`report_arm`] for the run-time builder: `arms` come with the site of their edges.
#[inline]
pub fn route_problems(
    at: NodeIdx,
    node: &NodeFacts<'_>,
    arms: &[(&str, Site)],
    plain: bool,
) -> Vec<Problem> {
    let names: Vec<&str> = arms.iter().map(|(name, _)| *name).collect();
    let mut problems: Vec<Problem> = Vec::new();
    if let Some((rule, text)) = routes_text(node, &names, plain) {
        problems.push(Problem::new(rule, Site::Node(at), text.as_str()));
    }
    for (i, (arm, site)) in arms.iter().enumerate() {
        // A fork has several edges for one arm, and one mistake in it.
        if names[..i].contains(arm) {
            continue;
        }
        if let Some((rule, text)) = arm_text(node, arm) {
            problems.push(Problem::new(rule, *site, text.as_str()));
        }
    }
    problems
}

#[inline]
const fn routes_text(node: &NodeFacts<'_>, arms: &[&str], plain: bool) -> Option<(Rule, Text)> {
    if !node.has_route {
        return if arms.is_empty() {
            None
        } else {
            Some((Rule::NoRoute, words::no_route(node.name)))
        };
    }
    if plain {
        return Some((Rule::PlainBesideRoute, words::plain_beside_route(node.name)));
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
                words::missing_routes(node.name, node.routes, arms),
            ));
        }
        route += 1;
    }
    None
}

#[inline]
const fn arm_text(node: &NodeFacts<'_>, arm: &str) -> Option<(Rule, Text)> {
    // A node that does not choose is reported once, at the node.
    if !node.has_route || position(arm, node.routes).is_some() {
        return None;
    }
    Some((
        Rule::UnknownRoute,
        words::unknown_route(node.name, arm, similar_in(arm, node.routes), node.routes),
    ))
}

#[inline]
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
#[inline]
const fn panic_with(rule: Rule, text: &Text) -> ! {
    panic!("{}", coded(rule, text).as_str())
}
