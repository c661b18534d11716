//! What the user sees: the type, its functions, and that it is a flow.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Cx, builder, docs, gates};

/// The flow's type.
pub(super) fn item(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        attrs, vis, name, ..
    } = cx;
    let docs = docs::code(cx);
    if cx.values().next().is_some() {
        let fields = builder::fields(cx);
        // `<>`: else rustc would say of an unknown type that the flow might lack a parameter, and say it apart from the rest.
        return quote! {
            #(#attrs)*
            #docs
            #vis struct #name <> { #fields }
        };
    }
    // From its first token to its last it is where the name stands: there rustc says that the name is taken. It still comes from
    // a macro, so that no lint takes it for the user's.
    let item = quote_spanned!(Span::call_site().located_at(name.span())=> struct #name;);
    quote! {
        #(#attrs)*
        #docs
        #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
        #vis #item
    }
}

/// `run`, `new`, `topology`, `mermaid`, `dot`.
pub(super) fn inherent(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        krate, name, state, ..
    } = cx;
    let exists = quote!(where for<'__b> #state: __petalflow::StateFor<'__b>);
    let launch = if cx.values().next().is_some() {
        builder::code(cx)
    } else {
        quote! {
            #[automatically_derived]
            impl __petalflow::Subflow for #name #exists {
                fn fresh() -> Self {
                    Self
                }
            }
            impl #name #exists {
                /// Runs the flow from this input with the defaults. [`new`](Self::new) has more to say about the run.
                #[allow(clippy::self_named_constructors)]
            pub fn run(input: impl ::core::convert::Into<<#state as #krate::State>::Input>) -> #krate::Run<Self> {
                    Self::new().run(input)
                }

                /// A launch of the flow, to set limits, lend managed values, add middleware.
                pub fn new() -> #krate::Launch<Self> {
                    static FLOW: ::std::sync::OnceLock<::std::sync::Arc<#name>> = ::std::sync::OnceLock::new();
                    __petalflow::launch(&FLOW, Self)
                }
            }
        }
    };
    quote! {
        #launch
        impl #name {
            /// The graph as data: its nodes, what they are for, and its edges.
            #[must_use]
            pub fn topology() -> #krate::Topology {
                __petalflow::topology(&__DRAWING.graph())
            }

            /// The graph as a [Mermaid](https://mermaid.js.org) diagram.
            #[must_use]
            pub fn mermaid() -> ::std::string::String {
                __petalflow::mermaid(&__DRAWING.graph())
            }

            /// The graph in the DOT language of Graphviz.
            #[must_use]
            pub fn dot() -> ::std::string::String {
                __petalflow::dot(&__DRAWING.graph())
            }
        }
    }
}

/// The flow for the engine.
pub(super) fn flow(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        krate, name, state, ..
    } = cx;
    let gate = gates::method(cx);
    quote! {
        #[automatically_derived]
        impl #krate::Flow for #name where for<'__b> #state: __petalflow::StateFor<'__b> {
            type State = #state;

            fn name(&self) -> &str {
                __DRAWING.flow
            }

            fn wiring(&self) -> ::std::sync::Arc<__petalflow::Wiring> {
                static WIRING: ::std::sync::OnceLock<::std::sync::Arc<__petalflow::Wiring>> = ::std::sync::OnceLock::new();
                ::core::clone::Clone::clone(WIRING.get_or_init(|| __DRAWING.wire()))
            }

            fn require(&self, requirements: &mut #krate::Requirements<'_>) {
                __DRAWING.require(requirements);
            }

            #gate

            fn step<'a>(
                &'a self,
                node: u32,
                step: &'a mut #krate::__private::flow::Step<'_, #state>,
            ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #krate::BoxError>> + ::core::marker::Send + 'a {
                __step(self, node, step)
            }
        }
    }
}
