//! The dispatch: a tree of functions of at most twenty arms.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::nodes::{bounds, chunk};
use super::{CHUNK, Cx, number, slot};
use crate::flow::model::Kind;

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { name, state, model, .. } = cx;
    let mut code = TokenStream::new();
    let count = model.nodes.len();
    let head = |state: &TokenStream| quote!(node: u32, scope: &'a __petalflow::Scope, state: &'a #state, effects: &'a mut __petalflow::Effects<#state>);
    let (any, concrete) = (head(&quote!(<W as __Over>::State)), head(&state.to_token_stream()));
    let exists = quote!(where for<'__b> #state: __petalflow::StateFor<'__b>);
    let result = quote!(impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>> + ::core::marker::Send + 'a);
    for start in (0..count).step_by(CHUNK) {
        let end = count.min(start + CHUNK);
        let (step, bounds) = (chunk("__step", start), bounds(cx, start, end));
        let arms = (start..end).map(|place| arm(cx, place));
        code.extend(quote! {
            #[allow(unused_variables)]
            fn #step<'a, W: #bounds>(flow: &'a W, #any) -> #result {
                async move { match node { #(#arms)* _ => __petalflow::no_node(node) } }
            }
        });
    }
    // Each level covers twenty times what the one below does.
    let mut width = CHUNK;
    let mut below: Vec<_> = (0..count).step_by(CHUNK).map(|start| chunk("__step", start)).collect();
    while below.len() > 1 {
        let mut level = Vec::new();
        for (at, functions) in below.chunks(CHUNK).enumerate() {
            let step = chunk(&format!("__step_of_{}", width * CHUNK), at);
            let arms = functions.iter().enumerate().map(|(i, function)| {
                let i = number(at * CHUNK + i);
                quote!(#i => #function(flow, node, scope, state, effects).await,)
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
    let body = match below.first() {
        Some(top) => quote!(#top(flow, node, scope, state, effects)),
        None => quote!(async move { __petalflow::no_node(node) }),
    };
    code.extend(quote! {
        #[allow(unused_variables)]
        fn __step<'a>(flow: &'a #name, #concrete) -> #result #exists { #body }
    });
    code
}

fn arm(cx: &Cx<'_>, place: usize) -> TokenStream {
    let (n, i) = (number(place), slot(place));
    match &cx.model.nodes[place].kind {
        Kind::Function(_) => quote!(#n => __petalflow::call::<_, <W as __Slot<#i>>::Node>(scope, state, effects).await,),
        Kind::Value { .. } => quote!(#n => __petalflow::call_value(<W as __Value<#i>>::node(flow), scope, state, effects).await,),
        Kind::Subflow(_) => quote!(#n => <W as __Sub<#i>>::call(scope, state, effects).await,),
        Kind::Broken => TokenStream::new(),
    }
}
