//! The public interface of a flow: its functions, and the implementation of `Flow`.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::signatures::{run_with_defaults, signatures};
use super::step::Dispatch;
use super::{builder, interrupt_points};
use crate::paths::local;
use crate::site::quote;

/// The functions of the type.
pub(super) fn inherent(cx: &Cx<'_>) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let input = local("input");
    let [_, new, topology, mermaid, dot] = signatures(krate, &state.to_token_stream(), &input);
    let launch = if cx.has_values() {
        builder::code(cx)
    } else {
        let run = run_with_defaults(cx, &input);
        quote! {
            #run
            #[allow(dead_code)]
            impl #name {
                #new {
                    static __FLOW: ::std::sync::OnceLock<::std::sync::Arc<#name>> = ::std::sync::OnceLock::new();
                    __petalflow::launch(&__FLOW, Self)
                }
            }
        }
    };
    quote! {
        #launch
        #[allow(dead_code)]
        impl #name {
            #topology {
                __petalflow::topology(&__GRAPH.graph())
            }

            #mermaid {
                __petalflow::mermaid(&__GRAPH.graph())
            }

            #dot {
                __petalflow::dot(&__GRAPH.graph())
            }
        }
    }
}

/// The implementation of `Flow`.
pub(super) fn flow(cx: &Cx<'_>, dispatch: &Dispatch) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let stored = cx.stored.map(|stored| {
        quote! {
            fn stored_name(&self) -> &::core::primitive::str {
                #stored
            }
        }
    });
    let guard = interrupt_points::method(cx);
    let step = dispatch.step(cx);
    // rustc reports a private state of a public flow here.
    let over = quote_spanned!(state.span()=> type State = #state;);
    // A list of flows in a message would show the module.
    let listed = cx.module.map(|_| quote!(#[diagnostic::do_not_recommend]));
    quote! {
        #[automatically_derived]
        #listed
        impl #krate::Flow for #name {
            #over

            fn name(&self) -> &::core::primitive::str {
                __GRAPH.flow
            }

            #stored

            fn plan(&self) -> ::std::sync::Arc<__petalflow::ExecutionPlan> {
                static __PLAN: ::std::sync::OnceLock<::std::sync::Arc<__petalflow::ExecutionPlan>> = ::std::sync::OnceLock::new();
                __GRAPH.plan(&__PLAN)
            }

            fn require(&self, __requirements: &mut #krate::node::Requirements<'_>) {
                __GRAPH.require(__requirements);
            }

            #guard

            fn step<'a>(
                &'a self,
                __node: ::core::primitive::u32,
                __task: &'a mut #krate::__private::flow::Step<'_, #state>,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #krate::BoxError>> + ::core::marker::Send + 'a {
                #step
            }
        }
    }
}
