//! One line per node, per arm, and per further edge: what the one pass found out about it becomes an error at its token.

use petalflow_graph::{Source, Target, Via, index};
use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;

use super::nodes::{check_at, respan};
use super::{Cx, list, number};

/// In flows of up to about this many nodes every mistake is reported at once.
const MOST_STATEMENTS: usize = 64;

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { model, .. } = cx;
    let mut checks: Vec<Check<'_>> = Vec::new();
    let nodes = model.nodes.len();
    // The first edge to a node is reported with it: usually both are the same token.
    let mut first = vec![None; nodes];
    let mut further = Vec::new();
    let (mut plain, mut routed) = (vec![false; nodes], vec![false; nodes]);
    for (at, edge) in model.edges.iter().enumerate() {
        if let Target::Node(to) = edge.to {
            match &mut first[to as usize] {
                Some(_) => further.push(at),
                none => *none = Some(at),
            }
        } else if edge.via == Via::Each {
            further.push(at);
        }
        if let Source::Node(from) = edge.from
            && matches!(edge.via, Via::Plain | Via::Each)
            && !edge.implied
        {
            plain[from as usize] = true;
        }
    }
    model
        .arms
        .iter()
        .for_each(|arm| routed[arm.node as usize] = true);
    for (place, node) in model.nodes.iter().enumerate() {
        let (i, first) = (
            number(place),
            number(first[place].unwrap_or(u32::MAX as usize)),
        );
        if routed[place] {
            let arms = model.arms.iter().filter(|arm| arm.node == index(place));
            let names = list(arms.clone().map(|arm| &arm.route));
            let at = node.leaves.as_ref().unwrap_or(&node.at);
            checks.push((&node.at, quote!(__petalflow::routed(__CHECKED, #i, #first))));
            checks.push((at, quote!(__petalflow::route(__CHECKED, #i, &[#names]))));
            for arm in arms {
                let name = &arm.route;
                checks.push((&arm.at, quote!(__petalflow::arm(__CHECKED, #i, #name))));
            }
        } else {
            let plain = plain[place];
            checks.push((
                &node.at,
                quote!(__petalflow::node(__CHECKED, #i, #first, #plain)),
            ));
        }
    }
    for at in further {
        let i = number(at);
        checks.push((
            &model.edges[at].at,
            quote!(__petalflow::edge(__CHECKED, #i)),
        ));
    }
    statements(checks)
}

/// What must hold, and the token where it is said.
type Check<'a> = (&'a TokenStream, TokenStream);

/// A statement per check, so that each can fail by itself; in a large flow one for several checks, because a statement costs
/// rustc half a millisecond, and of those in one only the first that fails is reported. Neighbours, of which one change breaks
/// several, are in different statements.
fn statements(checks: Vec<Check<'_>>) -> TokenStream {
    let mut groups: Vec<Vec<Check<'_>>> = Vec::new();
    for (i, check) in checks.into_iter().enumerate() {
        if i < MOST_STATEMENTS {
            groups.push(vec![check]);
        } else {
            groups[i % MOST_STATEMENTS].push(check);
        }
    }
    let statement = |checks: &Vec<Check<'_>>| match &checks[..] {
        [(at, call)] => check_at(at, call.clone()),
        checks => {
            let calls = checks
                .iter()
                .map(|(at, call)| respan(quote!(#call;), at.span()));
            quote!(const _: () = { #(#calls)* };)
        }
    };
    groups.iter().map(statement).collect()
}
