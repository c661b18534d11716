//! The functions of a flow, without their bodies, except for that of `run`.

use proc_macro2::{Delimiter, Group, Ident, TokenStream};

use super::cx::Cx;
use super::tokens::head;

use crate::site::quote;

/// `run` without its body, at the name of the flow, where rustc shows the function if the input does not fit.
pub(super) fn run(cx: &Cx<'_>, input: &Ident) -> TokenStream {
    let state = cx.state;
    let run = quote! {
        /// Runs the flow from this input with the default settings. [`new`](Self::new) has other settings.
        #[allow(clippy::self_named_constructors)]
        pub fn run(#input: impl __petalflow::InputOf<#state>) -> __petalflow::Run<Self>
    };
    head(run, cx.name.span())
}

/// `run` with the default settings, of a flow that can be a sub-flow without node values. Its body is at the name of the flow, as its head is: rustc shows the whole function if it is
/// called as a method, and would otherwise add that the error originates in the macro.
pub(super) fn run_with_defaults(cx: &Cx<'_>, input: &Ident) -> TokenStream {
    let (name, run) = (cx.own(), run(cx, input));
    let mut body = Group::new(Delimiter::Brace, quote!(Self::new().run(#input)));
    body.set_span(cx.name.span());
    quote! {
        #[allow(dead_code, private_bounds, unreachable_pub)]
        impl #name {
            #run #body
        }
        #[automatically_derived]
        impl __petalflow::Subflow for #name {
            fn fresh() -> Self {
                ::core::default::Default::default()
            }
        }
    }
}

/// `run`, `new`, `topology`, `mermaid` and `dot`, without their bodies.
pub(crate) fn signatures(
    krate: &TokenStream,
    state: &TokenStream,
    input: &Ident,
) -> [TokenStream; 5] {
    [
        quote! {
            /// Runs the flow from this input with the default settings. [`new`](Self::new) has other settings.
            #[allow(clippy::self_named_constructors)]
            pub fn run(#input: impl #krate::state::InputOf<#state>) -> #krate::Run<Self>
        },
        quote! {
            /// A launch of the flow, for limits, managed values and middleware.
            pub fn new() -> #krate::Launch<Self>
        },
        quote! {
            /// The graph as data: its nodes, their roles, and its edges.
            #[must_use]
            pub fn topology() -> #krate::graph::Topology
        },
        quote! {
            /// The graph as a [Mermaid](https://mermaid.js.org) diagram.
            #[must_use]
            pub fn mermaid() -> ::std::string::String
        },
        quote! {
            /// The graph in the DOT language of Graphviz.
            #[must_use]
            pub fn dot() -> ::std::string::String
        },
    ]
}
