//! The public interface of a flow: the type, its functions, and the implementation of `Flow`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::Visibility;
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::{builder, docs, interrupt_points};
use crate::attributes;
use crate::parsers::parse_as;
use crate::template::template;
use crate::tokens::concat;

/// The type of the flow, in a module with a unique name, and its import. If another type has the same name, only the import is an
/// error, because all generated code refers to the module.
pub(super) fn item(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        attrs, vis, name, ..
    } = cx;
    let docs = docs::code(cx, &docs::diagram(cx));
    let module = cx.module();
    let cfgs = cx.cfgs();
    let reach = from_within(vis);
    let mut of_type = attrs.to_vec();
    let of_docs = concat(&attributes::extract(&mut of_type, &|attr| {
        attr.path().is_ident("doc")
    }));
    let of_type = concat(&of_type);
    let (inner, builder) = if cx.has_values() {
        let fields = builder::fields();
        let within = parse_as(reach.clone()).expect("the tokens are a visibility");
        let builder = builder::item(cx, &from_within(&within));
        let import = template! { [cfgs, vis, module]
            #cfgs
            #[allow(unused_imports)]
            #vis use #module::builder::*;
        };
        (quote!(#reach struct #name { #fields } #builder), import)
    } else {
        let derived = template! { [reach, name]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug, ::core::default::Default)]
            #reach struct #name;
        };
        (derived, TokenStream::new())
    };
    // The import has the span of the name, so rustc reports there that the name is used twice. The source has another span,
    // because rustc would otherwise suggest `as` after the name. All spans are those of a macro, so that lints ignore the import.
    let span = Span::call_site().located_at(name.span());
    let mut path = module.clone();
    let mut source = Ident::clone(name);
    let mut target = source.clone();
    path.set_span(span);
    source.set_span(Span::call_site().located_at(cx.state.span()));
    target.set_span(span);
    let import = quote_spanned!(span=> use #path::#source as #target;);
    let import = cx.before.is_none().then(|| {
        template! { [cfgs, of_docs, docs, vis, import]
            #cfgs
            #of_docs
            #docs
            #[doc(inline)]
            #[allow(unused_imports)]
            #vis #import
        }
    });
    template! { [cfgs, module, of_type, inner, import, builder]
        #cfgs
        #[allow(non_snake_case)]
        mod #module {
            #of_type
            #[allow(unreachable_pub, missing_docs, clippy::redundant_pub_crate)]
            #inner
        }
        #import
        #builder
    }
}

/// `run` and `new` for the type that has the name of the flow, so that their calls are not errors.
pub(super) fn instead(cx: &Cx<'_>) -> Option<TokenStream> {
    cx.before
        .filter(|before| before.is_generated() && !cx.has_values())?;
    let Cx {
        krate, state, name, ..
    } = cx;
    let own = cx.own();
    Some(template! { [name, krate, state, own]
        #[allow(dead_code)]
        impl #name {
            fn run(input: impl #krate::state::InputOf<#state>) -> #krate::Run<#own> {
                #own::run(input)
            }
            fn new() -> #krate::Launch<#own> {
                #own::new()
            }
        }
    })
}

/// The same visibility, from inside the module.
fn from_within(vis: &Visibility) -> TokenStream {
    match vis {
        Visibility::Inherited => quote!(pub(super)),
        Visibility::Restricted(within) if within.path.is_ident("self") => quote!(pub(super)),
        Visibility::Restricted(within) if within.path.is_ident("super") => {
            quote!(pub(in super::super))
        }
        Visibility::Restricted(within)
            if within
                .path
                .segments
                .first()
                .is_some_and(|first| first.ident == "super") =>
        {
            let path = &within.path;
            quote!(pub(in super::#path))
        }
        vis => quote!(#vis),
    }
}

/// Declares [`Cx::own`].
pub(super) fn own_name(cx: &Cx<'_>) -> TokenStream {
    let module = cx.module();
    let name = cx.name;
    let own = cx.own();
    quote!(type #own = #module::#name;)
}

/// The functions of the type.
pub(super) fn inherent(cx: &Cx<'_>) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let exists = cx.exists();
    let [run, new, topology, mermaid, dot] = signatures(krate, &state.to_token_stream());
    let launch = if cx.has_values() {
        builder::code(cx)
    } else {
        template! { [name, exists, run, new]
            #[automatically_derived]
            impl __petalflow::Subflow for #name #exists {
                fn fresh() -> Self {
                    Self
                }
            }
            impl #name #exists {
                #run {
                    Self::new().run(input)
                }

                #new {
                    static FLOW: ::std::sync::OnceLock<::std::sync::Arc<#name>> = ::std::sync::OnceLock::new();
                    __petalflow::launch(&FLOW, Self)
                }
            }
        }
    };
    template! { [launch, name, topology, mermaid, dot]
        #launch
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

/// `run`, `new`, `topology`, `mermaid` and `dot`, without their bodies.
pub(crate) fn signatures(krate: &TokenStream, state: &TokenStream) -> [TokenStream; 5] {
    [
        template! { [krate, state]
            /// Runs the flow from this input with the default settings. [`new`](Self::new) has other settings.
            #[allow(clippy::self_named_constructors)]
            pub fn run(input: impl #krate::state::InputOf<#state>) -> #krate::Run<Self>
        },
        template! { [krate]
            /// A launch of the flow, for limits, managed values and middleware.
            pub fn new() -> #krate::Launch<Self>
        },
        template! { [krate]
            /// The graph as data: its nodes, their roles, and its edges.
            #[must_use]
            pub fn topology() -> #krate::graph::Topology
        },
        template! { []
            /// The graph as a [Mermaid](https://mermaid.js.org) diagram.
            #[must_use]
            pub fn mermaid() -> ::std::string::String
        },
        template! { []
            /// The graph in the DOT language of Graphviz.
            #[must_use]
            pub fn dot() -> ::std::string::String
        },
    ]
}

/// The implementation of `Flow`.
pub(super) fn flow(cx: &Cx<'_>) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let stored = cx.stored.map(|stored| {
        template! { [stored]
            fn stored_name(&self) -> &str {
                #stored
            }
        }
    });
    let guard = interrupt_points::method(cx);
    let exists = cx.exists();
    // rustc reports a private state of a public flow here.
    let at = Span::call_site().located_at(state.span());
    let over = quote_spanned!(at=> type State = #state;);
    template! { [krate, name, exists, over, stored, guard, state]
        #[automatically_derived]
        impl #krate::Flow for #name #exists {
            #over

            fn name(&self) -> &str {
                __GRAPH.flow
            }

            #stored

            fn plan(&self) -> ::std::sync::Arc<__petalflow::ExecutionPlan> {
                static PLAN: ::std::sync::OnceLock<::std::sync::Arc<__petalflow::ExecutionPlan>> = ::std::sync::OnceLock::new();
                __GRAPH.plan(&PLAN)
            }

            fn require(&self, requirements: &mut #krate::node::Requirements<'_>) {
                __GRAPH.require(requirements);
            }

            #guard

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
