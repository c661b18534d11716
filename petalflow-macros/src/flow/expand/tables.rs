//! The graph and its analysis as constants.

use petalflow_graph::{Source, Target, Via, kind};
use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;

use super::cx::Cx;
use super::tokens::{check_at, int, ints, node_indices, number};
use super::{interrupt_points, policy};
use crate::flow::model::{Kind, Node};
use crate::paths::option;
use crate::site::{self, quote};

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { name, model, .. } = cx;
    let nodes = number(model.nodes.len());
    let flow = site::text(&name.to_string());
    let joins = model.joins.iter().map(sides);
    let edges = edges(cx);
    let nodes_by_index = model.nodes.iter().enumerate();
    let node_flags = nodes_by_index.filter_map(|(index, node)| {
        let is_deferred = node.deferred;
        let is_subflow = matches!(node.kind, Kind::Subflow(_));
        let index = number(index);
        let (deferred, subflow) = (site::flag(is_deferred), site::flag(is_subflow));
        (is_deferred || is_subflow).then(|| {
            quote!(__petalflow::NodeFlags { node: #index, deferred: #deferred, subflow: #subflow })
        })
    });
    let policies = policy::code(cx);
    let ids = policy::ids(cx);
    let distinct = distinct_names(cx);
    let interrupt_points = interrupt_points::rows(cx);
    let facts = interrupt_points::facts(cx, quote!(__petalflow::facts(__SPECS)));
    let checked = if cx.lost {
        TokenStream::new()
    } else {
        verdicts(cx)
    };
    let (vertices, state) = (site::text(&vertices(cx)), cx.state);
    quote! {
        #[doc = #vertices]
        const __EDGES: &[__petalflow::EdgeRow] = &[#edges];
        const __GRAPH: __petalflow::GraphTable = __petalflow::GraphTable {
            flow: #flow,
            node_flags: &[#(#node_flags),*],
            edges: __EDGES,
            joins: &[#(#joins),*],
            specs: __SPECS,
            policies: &[#policies],
            interrupt_points: &[#interrupt_points],
            ids: &[#ids],
        };
        /// The keys and routes of the nodes.
        const __NODES: &[__petalflow::NodeFacts<'static>; #nodes] = &#facts;
        const __KEYS: &[__petalflow::KeyFacts<'static>] = __petalflow::keys::<#state>();
        #distinct
        #checked
    }
}

/// The check of the names that only the types of the nodes know.
fn distinct_names(cx: &Cx<'_>) -> TokenStream {
    if cx.lost || !cx.model.nodes.iter().any(Node::has_own_name) {
        return TokenStream::new();
    }
    let call = quote!(__petalflow::distinct_names(__SPECS, __NAMES, __GRAPH.ids));
    check_at(&cx.name.to_token_stream(), call)
}

/// The indices of nodes and joins, for a reader of the expansion.
fn vertices(cx: &Cx<'_>) -> String {
    let nodes = cx.model.nodes.iter().map(|node| node.name.clone());
    let vertices = nodes.chain(cx.model.joins.iter().map(sides)).enumerate();
    let vertices: Vec<_> = vertices
        .map(|(index, name)| format!("{index}: {name}"))
        .collect();
    vertices.join(", ")
}

/// The result of the checks over all nodes, in one constant.
fn verdicts(cx: &Cx<'_>) -> TokenStream {
    let tables = analysis(cx);
    let nodes = number(cx.model.nodes.len());
    let both = number(cx.model.nodes.len() + cx.model.edges.len());
    quote! {
        /// The analysis of the graph.
        const __TABLES: __petalflow::Tables<'static> = #tables;
        /// The facts and the verdicts that the checks below read.
        const __CHECKED: &__petalflow::Checked = &__petalflow::Checked {
            keys: __KEYS,
            specs: __SPECS,
            nodes: __NODES,
            verdicts: &__petalflow::verdicts::<#nodes, { __TABLES.scratch() }>(&__TABLES, __KEYS, __NODES),
            edges: __EDGES,
            joins: __GRAPH.joins,
            items: &__petalflow::items::<#both>(__SPECS, __EDGES),
        };
    }
}

/// The text of a join: `a & b`.
fn sides(join: &TokenStream) -> String {
    let paths = join.to_string();
    // The tokens of a join are the paths of its sides.
    paths.replace(" :: ", "::").replace(' ', " & ")
}

/// The rows of the edges. The vertices are the nodes, the joins, START and END, in this order.
fn edges(cx: &Cx<'_>) -> TokenStream {
    let nodes = cx.graph.nodes.len();
    let vertex = |index: usize| number(index).into_token_stream();
    let from = |source: Source| match source {
        Source::Node(node) => vertex(node.index()),
        Source::Join(join) => vertex(nodes + join.index()),
        Source::Start => quote!(__petalflow::START),
    };
    let to = |target: Target| match target {
        Target::Node(node) => vertex(node.index()),
        Target::Join(join) => vertex(nodes + join.index()),
        Target::End => quote!(__petalflow::END),
    };
    let edges = cx.model.edges.iter().map(|edge| {
        let from = from(edge.from);
        let to = to(edge.to);
        let row = quote!(__petalflow::EdgeRow);
        match &edge.via {
            Via::Plain => quote!(#row::plain(#from, #to)),
            Via::Each => quote!(#row::each(#from, #to)),
            Via::Route(route) => {
                let route = site::text(route);
                quote!(#row::route(#from, #to, #route))
            }
            Via::RouteEach(route) => {
                let route = site::text(route);
                quote!(#row::route_each(#from, #to, #route))
            }
            Via::Catch => quote!(#row::catch(#from, #to)),
        }
    });
    quote!(#(#edges),*)
}

/// The kind of an edge, by the names of its constants.
fn edge_kind(kind: u8) -> TokenStream {
    let name = |name: &str| Ident::new(name, site::span());
    let what = name(match kind & kind::WITHOUT_FLAGS {
        kind::EACH => "EACH",
        kind::ROUTE => "ROUTE",
        kind::ROUTE_EACH => "ROUTE_EACH",
        kind::CATCH => "CATCH",
        _ => "PLAIN",
    });
    let known = [
        (kind::FROM_BATCH, "FROM_BATCH"),
        (kind::LATE, "LATE"),
        (kind::BACK, "BACK"),
    ];
    let flags = known.iter().filter(|(flag, _)| kind & flag != 0);
    let flags = flags.map(|(_, constant)| name(constant));
    quote!(__petalflow::kind::#what #(| __petalflow::kind::#flags)*)
}

fn analysis(cx: &Cx<'_>) -> TokenStream {
    let tables = cx.analysis.tables();
    let pairs = |pairs: petalflow_graph::PairsRef<'_>| {
        let offsets = ints(pairs.offsets);
        let ranges = pairs.ranges.iter().map(|&(first, last)| {
            let first = int(first);
            let last = int(last);
            quote!((#first, #last),)
        });
        quote!(__petalflow::PairsRef { offsets: &[#offsets], ranges: &[#(#ranges)*] })
    };
    let together = pairs(tables.together);
    let frontiers = option(tables.frontiers.map(|frontiers| {
        let offsets = ints(frontiers.offsets);
        let nodes = ints(frontiers.nodes);
        let lost = ints(frontiers.lost);
        let transitions = frontiers.transitions.iter().map(|transition| {
let from = int(transition.from);
            let to = int(transition.to);
            let begin = int(transition.lost_begin);
            let end = int(transition.lost_end);
quote!(__petalflow::Transition::new(#from, #to, #begin, #end),)
});
        quote!(__petalflow::FrontiersRef { offsets: &[#offsets], nodes: &[#nodes], transitions: &[#(#transitions)*], lost: &[#lost] })
    }));
    let any = |any: petalflow_graph::AnyRef<'_>| {
        let together = pairs(any.together);
        let stuck = node_indices(any.stuck_at);
        quote!(__petalflow::AnyRef { together: #together, stuck_at: &[#stuck] })
    };
    let delivered = tables.delivered.map(|(nodes, delivered)| {
        let nodes = node_indices(nodes);
        let delivered = any(delivered);
        quote!((&[#nodes], #delivered))
    });
    let any = option(tables.any.map(any));
    let delivered = option(delivered);
    let endless = tables.endless.iter().map(|row| {
        let part = int(row.part);
        let set = int(row.set);
        let report_at = int(row.report_at.as_u32());
        let node = int(row.node.as_u32());
        let arms = int(row.arms);
        quote!(__petalflow::EndlessRow::new(#part, #set, #report_at, #node, #arms))
    });
    let exact = site::flag(tables.exact);
    // If all states are known and no node type can add states, the edges are not needed.
    let needs_paths =
        tables.frontiers.is_none() || tables.any.is_some() || tables.delivered.is_some();
    let paths = |paths: &[petalflow_graph::PathEdge]| {
        if !needs_paths {
            return TokenStream::new();
        }
        let edges = paths.iter().map(|edge| {
            let from = int(edge.from);
            let to = int(edge.to);
            let kind = edge_kind(edge.kind);
            let route = int(edge.route);
            quote!(__petalflow::PathEdge::new(#from, #to, #kind, #route))
        });
        quote!(#(#edges),*)
    };
    let forward = paths(tables.paths.forward);
    let backward = paths(tables.paths.backward);
    let nodes = int(tables.paths.nodes);
    let joins = int(tables.paths.joins);
    quote! {
        __petalflow::Tables {
            exact: #exact,
            together: #together,
            frontiers: #frontiers,
            paths: __petalflow::PathsRef { nodes: #nodes, joins: #joins, forward: &[#forward], backward: &[#backward] },
            any: #any,
            delivered: #delivered,
            endless: &[#(#endless),*],
        }
    }
}
