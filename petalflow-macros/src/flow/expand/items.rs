//! Checks that each edge delivers an item of the type that its target takes: one call per edge, at the target's token.

use petalflow_graph::{Source, Target, Via};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::nodes::node_type;
use super::subflow;
use super::tokens::{numbered, respan};
use crate::flow::model::{Kind, Model};
use crate::paths::route_hash;
use crate::site::{self, quote};

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let model = cx.model;
    let state = cx.state;
    let mut checks = TokenStream::new();
    let mut closures = TokenStream::new();
    // For each node: whether it takes an item, and whether its `out` has a variable.
    let mut takers = vec![false; model.nodes.len()];
    let mut outs = takers.clone();
    for edge in &model.edges {
        let (Source::Node(from), Target::Node(to)) = (edge.from, edge.to) else {
            continue;
        };
        let kind = match &edge.via {
            Via::Plain => continue,
            Via::Each => quote!(__petalflow::kinds::Each),
            Via::Route(route) => kind("Route", route),
            Via::RouteEach(route) => kind("RouteEach", route),
            Via::Catch => quote!(__petalflow::kinds::Catch),
        };
        let Some(target) = node(cx, to.index()) else {
            continue;
        };
        takers[to.index()] = true;
        let mut local = TokenStream::new();
        let probe = match &model.nodes[from.index()].kind {
            Kind::Subflow(subflow) if edge.via != Via::Catch => {
                let sender = numbered("__sender_", from.index());
                if !outs[from.index()] {
                    outs[from.index()] = true;
                    // A closure, because the return type of the function is opaque.
                    let (end, output) = (&subflow.end, &subflow.output);
                    closures.extend(quote!(let #sender = __petalflow::sender::<#state, _, _, _>(&|#end| #output);));
                }
                // This token does not get the span of the target, because hygiene depends on the span of a variable.
                local = sender.to_token_stream();
                quote!(__petalflow::probe_out::<_, #target, #kind, _>)
            }
            // A `catch` always delivers a `NodeError`.
            _ if edge.via == Via::Catch => quote!(__petalflow::probe::<#state, (), #target, #kind>),
            _ => {
                let Some(sender) = node(cx, from.index()) else {
                    continue;
                };
                quote!(__petalflow::probe::<#state, __petalflow::FromNode<#sender>, #target, #kind>)
            }
        };
        let span = edge.at.span();
        let probe = respan(probe, span);
        let local = if local.is_empty() {
            local
        } else {
            quote_spanned!(span=> &#local)
        };
        let mut sent = quote_spanned!(span=> (&&&#probe(#local)).sent());
        if matches!(edge.via, Via::RouteEach(_)) {
            sent = quote_spanned!(span=> <_ as __petalflow::ItemsOf>::items(#sent));
        }
        checks.extend(quote_spanned!(span=> <_ as __petalflow::AcceptsItem<_>>::fits(#sent);));
    }
    if checks.is_empty() {
        return checks;
    }
    let indices = 0..model.nodes.len();
    let taking = indices.filter(|index| takers[*index]);
    let takers = taking.map(|index| taker(cx, model, index));
    quote! {
        // A deprecated node is reported once, where `nodes` names it first.
        #[allow(deprecated)]
        const _: () = {
            #[allow(unused_imports)]
            use __petalflow::{DeliversNothing as _, DeliversSomething as _, DeliversUnknown as _};
            #(#takers)*
            #[allow(dead_code, unused, clippy::all, clippy::pedantic)]
            fn __items() {
                #closures
                #checks
            }
        };
    }
}

fn kind(name: &str, route: &str) -> TokenStream {
    let kind = format_ident!("{name}", span = site::span());
    let hash = site::literal(Literal::u64_suffixed(route_hash(route)));
    quote!(__petalflow::kinds::#kind<#hash>)
}

/// The type of a node.
fn node(cx: &Cx<'_>, index: usize) -> Option<TokenStream> {
    let node = &cx.model.nodes[index];
    match node.kind {
        Kind::Subflow(_) => {
            Some(format_ident!("r#{}", node.name, span = site::span()).to_token_stream())
        }
        _ => node_type(node, index),
    }
}

/// A type with the name of a sub-flow node, for error messages. It takes the item that `in` takes.
fn taker(cx: &Cx<'_>, model: &Model, index: usize) -> TokenStream {
    let Kind::Subflow(subflow) = &model.nodes[index].kind else {
        return TokenStream::new();
    };
    let taker = format_ident!("r#{}", model.nodes[index].name, span = site::span());
    let state = cx.state;
    let item = subflow::item(subflow);
    let takes = item
        .as_ref()
        .map(|item| quote!(impl __petalflow::AcceptsItem<#item> for #taker {}));
    let item = item.unwrap_or_else(|| quote!(()));
    quote! {
        #[allow(non_camel_case_types)]
        enum #taker {}
        impl __petalflow::Receiver<#state> for #taker { type Item = #item; }
        #takes
    }
}
