//! The interface of a flow without bodies and internal bounds: for rust-analyzer and rustdoc.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};

use crate::editor::elsewhere;
use crate::flow::check::is_method;
use crate::flow::expand::{Cx, Generics, builder_doc, required_values, signatures};
use crate::paths::derived;

/// The types and their methods.
pub(super) fn code(cx: &Cx<'_>, docs: TokenStream) -> TokenStream {
    let Cx {
        krate,
        attrs,
        vis,
        name,
        state,
        ..
    } = cx;
    let state = elsewhere(state.to_token_stream());
    let own = elsewhere(name.to_token_stream());
    let cfgs = cx.cfgs();
    let [run, new, topology, mermaid, dot] = signatures(krate, &state, &format_ident!("input"));
    let (builder, methods) = if cx.has_values() {
        builder(cx, &own, &state)
    } else {
        Default::default()
    };
    let new = if builder.is_empty() {
        quote!(#new { loop {} })
    } else {
        TokenStream::new()
    };
    let alone = required_values(&cx.values()).is_empty();
    let run = alone.then(|| {
        quote! {
            impl #own {
                #run { loop {} }
            }
        }
    });
    quote! {
        #(#attrs)*
        #docs
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #vis struct #name;
        #builder
        #cfgs
        #[allow(warnings)]
        const _: () = {
            use #krate::__private::flow as __petalflow;
            impl ::core::default::Default for #own {
                fn default() -> Self { loop {} }
            }
            impl #krate::Flow for #own {
                type State = #state;
                fn name(&self) -> &::core::primitive::str { loop {} }
                fn plan(&self) -> ::std::sync::Arc<__petalflow::ExecutionPlan> { loop {} }
                fn require(&self, _: &mut #krate::node::Requirements<'_>) {}
                fn step<'a>(
                    &'a self,
                    _: ::core::primitive::u32,
                    _: &'a mut #krate::__private::flow::Step<'_, #state>,
                ) -> impl ::core::future::Future<Output = ::core::result::Result<(), #krate::BoxError>> + ::core::marker::Send + 'a {
                    async move { loop {} }
                }
            }
            #run
            impl #own {
                #new
                #topology { loop {} }
                #mermaid { loop {} }
                #dot { loop {} }
            }
            #methods
        };
    }
}

/// The builder of a flow with node values, and its methods.
fn builder(cx: &Cx<'_>, own: &TokenStream, state: &TokenStream) -> (TokenStream, TokenStream) {
    let krate = cx.krate;
    let vis = cx.vis;
    let cfgs = cx.cfgs();
    let defined = derived(&format!("{}Builder", cx.name), cx.name);
    let builder = elsewhere(defined.to_token_stream());
    let values = cx.values();
    let required = required_values(&values);
    let generics = Generics::of(&required);
    let params = elsewhere(generics.params);
    let arguments = elsewhere(generics.arguments);
    let none = Generics::none(&required);
    let setters = values.iter().filter(|value| !is_method(value.name));
    let setters = setters.map(|value| {
        let name = value.name;
        let ty = elsewhere(value.ty.to_token_stream());
        let doc = value.doc();
        let result = if value.is_required() {
            let arguments = elsewhere(Generics::with(value, &required));
            quote!(#builder<#arguments>)
        } else {
            quote!(Self)
        };
        quote! {
            #[doc = #doc]
            pub fn #name(self, _: #ty) -> #result { loop {} }
        }
    });
    let doc = builder_doc(cx.name);
    let item = quote! {
        #cfgs
        #[doc = #doc]
        #[allow(warnings)]
        #[must_use = "nothing runs before `run`"]
        #vis struct #defined<#params>(#krate::Launch<#own>);
    };
    let methods = quote! {
        impl #own {
            /// A launch of the flow, for node values, limits, managed values and middleware.
            pub fn new() -> #builder<#none> { loop {} }
        }
        impl<#params> __petalflow::HasFlow for #builder<#arguments> {
            type Flow = #own;
            fn flow(&self) -> &#own { loop {} }
        }
        impl<#params> #builder<#arguments> {
            #(#setters)*

            __petalflow::forward_launch! { #own, #state }

            /// Runs the flow from this input: the keys marked `input`, or the value alone if there is one such key.
            pub fn run(self, input: impl #krate::state::InputOf<#state>) -> #krate::Run<#own> { loop {} }

            /// The threads of the flow in a store: `Launch::store` with all node values.
            pub fn store<ThreadStore>(self, store: &ThreadStore) -> #krate::thread::Threads<#own> { loop {} }

            /// The launch with all node values, for several runs.
            pub fn launch(self) -> #krate::Launch<#own> { loop {} }
        }
    };
    (item, methods)
}
