//! The state, the types of the nodes, and the table of their properties.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Type, parse_quote_spanned};

use super::cx::Cx;
use crate::flow::model::{Kind, Node};
use crate::site::{self, quote};

/// The state under the name `__State`. If it is not a state, or if a node is not one over it, a constant fails, and the name is a type
/// with an error: what uses it is not reported. Otherwise rustc would say which bounds of the runtime a node does not meet.
pub(super) fn checked_state(cx: &Cx<'_>) -> TokenStream {
    let written = cx.state;
    let (state, span) = (state(cx), written.span());
    let alias = Ident::new("__Written", span);
    let check = quote_spanned!(span=> __checks::is_state);
    let nodes = cx.model.nodes.iter().enumerate();
    let checks = nodes.filter_map(|(index, node)| {
        let ty = node_type(node, index)?;
        let span = span_of(node);
        let check = quote_spanned!(span=> __checks::is_node::<__OfNodes,);
        let end = quote_spanned!(span=> >());
        // In parentheses, a path that is no type is reported as such.
        Some(quote!(#check (#ty) #end;))
    });
    let are_nodes = site::without_suggestion("__ARE_NODES");
    quote! {
        type #alias = #written;
        const __STATE: ::core::primitive::usize = #check::<#alias>();
        type __OfNodes = <#alias as __petalflow::Proven<__STATE>>::Type;
        // The list of the nodes reports a deprecated one.
        #[allow(unused_parens, deprecated)]
        const #are_nodes: ::core::primitive::usize = {
            #(#checks)*
            0
        };
        type #state = <__OfNodes as __petalflow::Proven<__ARE_NODES>>::Type;
    }
}

/// Where rustc reports what is wrong with the type of a node.
pub(super) fn span_of(node: &Node) -> Span {
    match &node.kind {
        Kind::Function(path) => path
            .segments
            .last()
            .map_or_else(|| path.span(), |last| last.ident.span()),
        Kind::Value(_, value) => value.ty.span(),
        Kind::Subflow(_) | Kind::Broken => site::span(),
    }
}

/// The name of the checked state.
pub(super) fn state(cx: &Cx<'_>) -> Type {
    let state = Ident::new("__State", cx.state.span());
    parse_quote_spanned!(site::span()=> #state)
}

/// The types of the node values, each under one name, so that an error in a type is reported once. If threads cannot share the values,
/// a constant fails, and the name is a type with an error.
pub(super) fn value_types(cx: &Cx<'_>) -> TokenStream {
    let values = cx.values().into_iter().map(|value| {
        let (name, ty, span) = (value_type(value.index, value.ty), value.ty, value.ty.span());
        let written = format_ident!("__Written{}", value.index, span = span);
        let shared = format_ident!("__SHARED{}", value.index, span = site::span());
        let check = quote_spanned!(span=> __checks::shared::<#written>());
        quote! {
            type #written = #ty;
            const #shared: ::core::primitive::usize = #check;
            type #name = <#written as __petalflow::Proven<#shared>>::Type;
        }
    });
    values.collect()
}

/// The name of the type of a node value.
pub(super) fn value_type(index: usize, ty: &Type) -> Ident {
    format_ident!("__Value{index}", span = ty.span())
}

/// The type of a function or of a node value.
pub(super) fn node_type(node: &Node, index: usize) -> Option<TokenStream> {
    match &node.kind {
        Kind::Function(path) => Some(path.to_token_stream()),
        Kind::Value(_, value) => Some(value_type(index, &value.ty).into_token_stream()),
        Kind::Subflow(_) | Kind::Broken => None,
    }
}
