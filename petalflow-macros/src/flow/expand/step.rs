//! The dispatch: a tree of functions of few arms each, see `CHUNK`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::nodes::{chunk, node_over};
use super::{CHUNK, Cx, number};
use crate::flow::model::Kind;

/// Each function goes on from node to node as long as [`Step::go_on`] names one and it has an arm for it; the function above
/// it takes over where it has none.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let count = cx.model.nodes.len();
    if count == 0 {
        let body = quote!(__petalflow::no_node(node));
        return function(
            cx,
            &Ident::new("__step", Span::call_site()),
            &quote!(()),
            &body,
        );
    }
    let mut code = TokenStream::new();
    let mut below: Vec<Ident> = Vec::new();
    for start in (0..count).step_by(CHUNK) {
        let step = chunk("__step", start);
        let arms = (start..count.min(start + CHUNK)).map(|place| arm(cx, place));
        let level = Level::of(count <= CHUNK);
        let (output, other, end) = (level.output, level.other, level.end);
        let body = quote! {
            loop {
                let result: ::core::result::Result<(), __petalflow::BoxError> = match node {
                    #(#arms)*
                    _ => #other,
                };
                if let ::core::result::Result::Err(error) = result {
                    return ::core::result::Result::Err(error);
                }
                match step.go_on() {
                    ::core::option::Option::Some(next) => node = next,
                    ::core::option::Option::None => return ::core::result::Result::Ok(#end),
                }
            }
        };
        code.extend(function(cx, &step, &output, &body));
        below.push(step);
    }
    // Each level covers `CHUNK` times what the one below does.
    let mut width = CHUNK;
    while below.len() > 1 {
        let mut above = Vec::new();
        for (at, functions) in below.chunks(CHUNK).enumerate() {
            let step = chunk(&format!("__step_of_{}", width * CHUNK), at);
            let arms = functions.iter().enumerate().map(|(i, function)| {
                let i = number(at * CHUNK + i);
                quote!(#i => #function(flow, node, step).await,)
            });
            let level = Level::of(below.len() <= CHUNK);
            let (output, other, end) = (level.output, level.other, level.end);
            let span = number(width);
            let body = quote! {
                loop {
                    let result = match node / #span {
                        #(#arms)*
                        _ => #other,
                    };
                    match result {
                        ::core::result::Result::Ok(::core::option::Option::Some(next)) => node = next,
                        ::core::result::Result::Ok(::core::option::Option::None) => return ::core::result::Result::Ok(#end),
                        ::core::result::Result::Err(error) => return ::core::result::Result::Err(error),
                    }
                }
            };
            code.extend(function(cx, &step, &output, &body));
            above.push(step);
        }
        width *= CHUNK;
        below = above;
    }
    let (top, head) = (&below[0], head(cx));
    let result = future(&quote!(()));
    let exists = exists(cx);
    code.extend(quote! {
        fn __step<'a>(#head) -> #result #exists { #top(flow, node, step) }
    });
    code
}

/// What differs at the top of the tree: there is nobody above to take over.
struct Level {
    output: TokenStream,
    other: TokenStream,
    end: TokenStream,
}

impl Level {
    fn of(is_top: bool) -> Self {
        if is_top {
            return Level {
                output: quote!(()),
                other: quote!(__petalflow::no_node(node)),
                end: quote!(()),
            };
        }
        Level {
            output: quote!(::core::option::Option<u32>),
            other: quote!(return ::core::result::Result::Ok(::core::option::Option::Some(node))),
            end: quote!(::core::option::Option::None),
        }
    }
}

fn function(cx: &Cx<'_>, name: &Ident, output: &TokenStream, body: &TokenStream) -> TokenStream {
    let (head, result, exists) = (head(cx), future(output), exists(cx));
    quote! {
        #[allow(unused_variables, unused_mut, unreachable_code)]
        fn #name<'a>(#head) -> #result #exists {
            let mut node = node;
            async move { #body }
        }
    }
}

fn head(cx: &Cx<'_>) -> TokenStream {
    let Cx { name, state, .. } = cx;
    let state = state.to_token_stream();
    quote!(flow: &'a #name, node: u32, step: &'a mut __petalflow::Step<'_, #state>)
}

fn future(output: &TokenStream) -> TokenStream {
    quote! {
        impl ::core::future::Future<Output = ::core::result::Result<#output, __petalflow::BoxError>>
        + ::core::marker::Send
        + 'a
    }
}

fn exists(cx: &Cx<'_>) -> TokenStream {
    let state = cx.state;
    quote!(where for<'__b> #state: __petalflow::StateFor<'__b>)
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
