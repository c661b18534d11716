//! Compile errors from constant evaluation: one `const _` per node, per arm, and per additional edge to a node, at its token.

use petalflow_graph::{Source, Target, Via};
use proc_macro2::TokenStream;

use super::cx::Cx;
use super::tokens::{check_at, number};
use crate::flow::model::Arm;
use crate::site::{self, quote};

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { model, .. } = cx;
    let mut checks = TokenStream::new();
    // Each check is a separate constant, because each can fail.
    let mut check = |at: &TokenStream, call| checks.extend(check_at(at, call));
    let nodes = model.nodes.len();
    // The first edge to a node is checked together with the node. Usually both have the same token.
    let mut first = vec![None; nodes];
    let mut additional = Vec::new();
    let mut plain = vec![false; nodes];
    let mut arms = vec![Vec::<&Arm>::new(); nodes];
    for (at, edge) in model.edges.iter().enumerate() {
        if let Target::Node(to) = edge.to {
            match &mut first[to.index()] {
                Some(_) => additional.push(at),
                none => *none = Some(at),
            }
        } else if edge.via == Via::Each {
            additional.push(at);
        }
        if let Source::Node(from) = edge.from
            && matches!(edge.via, Via::Plain | Via::Each)
            && !edge.implied
        {
            plain[from.index()] = true;
        }
    }
    for arm in &model.arms {
        arms[arm.node.index()].push(arm);
    }
    for (index, node) in model.nodes.iter().enumerate() {
        let i = number(index);
        let first = number(first[index].unwrap_or(u32::MAX as usize));
        let arms = &arms[index];
        if arms.is_empty() {
            let plain = site::flag(plain[index]);
            let call = quote!(__petalflow::node(__CHECKED, #i, #first, #plain));
            check(&node.at, call);
            continue;
        }
        let names = arms.iter().map(|arm| site::text(&arm.route));
        let edges = arms.iter().map(|arm| number(arm.edge));
        let at = node.leaves.as_ref().unwrap_or(&node.at);
        check(&node.at, quote!(__petalflow::routed(__CHECKED, #i, #first)));
        let call = quote!(__petalflow::route(__CHECKED, #i, &[#(#names),*], &[#(#edges),*]));
        check(at, call);
        for arm in arms {
            let name = site::text(&arm.route);
            let edge = number(arm.edge);
            let call = quote!(__petalflow::arm(__CHECKED, #i, #name, #edge));
            check(&arm.at, call);
        }
    }
    for at in additional {
        let i = number(at);
        let call = quote!(__petalflow::edge(__CHECKED, #i));
        check(&model.edges[at].at, call);
    }
    checks
}
