//! The dispatch from the index of a node to its code: a tree of lists of node types. The runtime has the functions over the lists.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::nodes::node_over;
use super::tokens::{number, numbered, respan};
use crate::flow::model::Kind;

/// The number of arms of the largest list. A list below another one has this size.
const LARGEST: usize = 16;

/// The sizes of the lists that the runtime has.
const SIZES: [usize; 2] = [4, LARGEST];

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let mut code = TokenStream::new();
    let mut arms: Vec<TokenStream> = (0..cx.model.nodes.len())
        .map(|index| arm(cx, index, &mut code))
        .collect();
    let mut level = Level {
        width: 1,
        below: quote!(()),
    };
    while arms.len() > LARGEST {
        let mut above = Vec::new();
        for (at, arms) in arms.chunks(LARGEST).enumerate() {
            let range = numbered(&format!("__Range{}", level.width), at);
            let end = quote!(::core::option::Option<u32>);
            code.extend(dispatch(
                cx,
                &range,
                arms,
                LARGEST,
                at * LARGEST,
                &level,
                &end,
            ));
            above.push(quote!(__petalflow::RangeArm<#range>));
        }
        arms = above;
        level = Level {
            width: level.width * LARGEST,
            below: quote!(::core::option::Option<u32>),
        };
    }
    let size = SIZES.into_iter().find(|size| arms.len() <= *size);
    let size = size.unwrap_or(LARGEST);
    let all = Ident::new("__All", Span::call_site());
    code.extend(dispatch(cx, &all, &arms, size, 0, &level, &quote!(())));
    let (head, result, exists) = (head(cx), future(), cx.exists());
    let (function, name, state) = (format_ident!("upto{size}"), cx.own(), cx.state);
    code.extend(quote! {
        fn __step<'a>(#head) -> #result #exists {
            __petalflow::#function::<#all, #name, #state>(flow, node, step)
        }
    });
    code
}

/// The ranges of one width.
struct Level {
    /// The number of nodes of each arm.
    width: usize,
    /// The result of the arms.
    below: TokenStream,
}

/// A type with a list of arms.
fn dispatch(
    cx: &Cx<'_>,
    range: &Ident,
    arms: &[TokenStream],
    size: usize,
    first: usize,
    level: &Level,
    end: &TokenStream,
) -> TokenStream {
    let (name, state) = (cx.own(), cx.state);
    let (of, exists) = (format_ident!("Upto{size}"), cx.exists());
    let (width, below, first) = (number(level.width), &level.below, number(first));
    let no_arm = quote!(__petalflow::NoArm);
    let arms = (0..size).map(|index| {
        let (name, arm) = (
            format_ident!("A{index}"),
            arms.get(index).unwrap_or(&no_arm),
        );
        // These tokens have the span of the node, see `node_over`.
        let span = arm.span();
        let (name, semi) = (respan(quote!(type #name =), span), respan(quote!(;), span));
        quote!(#name #arm #semi)
    });
    quote! {
        enum #range {}
        impl __petalflow::#of<#name, #state> for #range #exists {
            const WIDTH: u32 = #width;
            const FIRST: u32 = #first;
            type Below = #below;
            type Rest = #end;
            #(#arms)*
        }
    }
}

fn head(cx: &Cx<'_>) -> TokenStream {
    let (name, state) = (cx.own(), cx.state);
    let state = state.to_token_stream();
    quote!(flow: &'a #name, node: u32, step: &'a mut __petalflow::Step<'_, #state>)
}

fn future() -> TokenStream {
    quote! {
        impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>>
        + ::core::marker::Send
        + 'a
    }
}

/// The arm of a node, as a type. A node that is not a function gets a separate type, which `code` declares.
fn arm(cx: &Cx<'_>, index: usize, code: &mut TokenStream) -> TokenStream {
    let call = match &cx.model.nodes[index].kind {
        Kind::Function(path) => return node_over(cx, index, path, "NodeOver", "Arm"),
        Kind::Broken => return quote!(__petalflow::NoArm),
        Kind::Value(name, value) => {
            let (span, state) = (value.ty.span(), cx.state);
            let (flow, step) = (variable_at("flow", span), variable_at("step", span));
            // A value that is no node is reported in the table of the nodes, and not here again.
            quote_spanned! {span=>
                async move {
                    #[allow(unused_imports)]
                    use __petalflow::NoCall as _;
                    __petalflow::Call::<#state, _>::of(__petalflow::given(&#flow.values.#name)).call(#step).await
                }
            }
        }
        Kind::Subflow(_) => {
            let call = numbered("__call", index);
            quote!(#call(step))
        }
    };
    let (name, state) = (cx.own(), cx.state);
    let (arm, head, future, exists) = (numbered("__Arm", index), head(cx), future(), cx.exists());
    code.extend(quote! {
        #[allow(non_camel_case_types)]
        enum #arm {}
        impl __petalflow::Arm<#name, #state, ()> for #arm #exists {
            type Output = ::core::result::Result<(), __petalflow::BoxError>;
            #[allow(unused_variables)]
            #[inline]
            fn call<'a>(#head) -> #future {
                #call
            }
            #[inline]
            fn finish(output: Self::Output, _: &mut __petalflow::Step<'_, #state>) -> Self::Output {
                output
            }
        }
    });
    arm.to_token_stream()
}

/// A generated variable with a span of the user.
fn variable_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::call_site().located_at(span))
}
