//! The dispatch: a tree of functions of few arms each, see `CHUNK`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::nodes::{chunk, node_over};
use super::{CHUNK, Cx, number};
use crate::flow::model::Kind;

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx {
        name, state, model, ..
    } = cx;
    let mut code = TokenStream::new();
    let count = model.nodes.len();
    let head = |state: &TokenStream| quote!(node: u32, step: &'a mut __petalflow::Step<'_, #state>);
    let concrete = head(&state.to_token_stream());
    let exists = quote!(where for<'__b> #state: __petalflow::StateFor<'__b>);
    let result = quote!(
        impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>>
        + ::core::marker::Send
        + 'a
    );
    for start in (0..count).step_by(CHUNK) {
        let end = count.min(start + CHUNK);
        let step = chunk("__step", start);
        let arms = (start..end).map(|place| arm(cx, place));
        code.extend(quote! {
            #[allow(unused_variables)]
            fn #step<'a>(flow: &'a #name, #concrete) -> #result #exists {
                async move { match node { #(#arms)* _ => __petalflow::no_node(node) } }
            }
        });
    }
    // Each level covers `CHUNK` times what the one below does.
    let mut width = CHUNK;
    let mut below: Vec<_> = (0..count)
        .step_by(CHUNK)
        .map(|start| chunk("__step", start))
        .collect();
    while below.len() > 1 {
        let mut level = Vec::new();
        for (at, functions) in below.chunks(CHUNK).enumerate() {
            let step = chunk(&format!("__step_of_{}", width * CHUNK), at);
            let arms = functions.iter().enumerate().map(|(i, function)| {
                let i = number(at * CHUNK + i);
                quote!(#i => #function(flow, node, step).await,)
            });
            let span = number(width);
            code.extend(quote! {
                fn #step<'a>(flow: &'a #name, #concrete) -> #result #exists {
                    async move { match node / #span { #(#arms)* _ => __petalflow::no_node(node) } }
                }
            });
            level.push(step);
        }
        width *= CHUNK;
        below = level;
    }
    let nothing = || quote!(async move { __petalflow::no_node(node) });
    let top = below.first().map(|top| quote!(#top(flow, node, step)));
    let body = top.unwrap_or_else(nothing);
    code.extend(quote! {
        #[allow(unused_variables)]
        fn __step<'a>(flow: &'a #name, #concrete) -> #result #exists { #body }
    });
    code
}

fn arm(cx: &Cx<'_>, place: usize) -> TokenStream {
    let n = number(place);
    match &cx.model.nodes[place].kind {
        Kind::Function(path) => {
            let (call, step, span) = (
                node_over(cx, path, "NodeOver", "call"),
                found_at("step", path.span()),
                path.span(),
            );
            quote_spanned!(span=> #n => #call(#step).await,)
        }
        Kind::Value(name, value) => {
            let ty = &value.ty;
            let (call, span) = (node_over(cx, ty, "ValueOver", "call"), ty.span());
            let (flow, step) = (found_at("flow", span), found_at("step", span));
            quote_spanned!(span=> #n => #call(__petalflow::given(&#flow.#name), #step).await,)
        }
        Kind::Subflow(_) => {
            let call = chunk("__call", place);
            quote!(#n => #call(step).await,)
        }
        Kind::Broken => TokenStream::new(),
    }
}

/// A variable of ours that stands in the user's place: it is looked up as what it is.
fn found_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::call_site().located_at(span))
}
