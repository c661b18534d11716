//! The dispatch from the index of a node to its code: a tree of lists of node types. The runtime has the functions over the lists.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::nodes::node_over;
use super::tokens::{number, numbered, respan};
use crate::flow::model::Kind;

/// The number of arms of the largest list of the runtime. A list below another one has this size.
const LARGEST: usize = 32;

pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let mut code = TokenStream::new();
    let nodes = 0..cx.model.nodes.len();
    let mut arms: Vec<_> = nodes.map(|index| arm(cx, index, &mut code)).collect();
    let mut level = Level {
        width: 1,
        below: quote!(()),
    };
    while arms.len() > LARGEST {
        let mut above = Vec::new();
        for (at, arms) in arms.chunks(LARGEST).enumerate() {
            let range = format_ident!("__Range{}_{at}", level.width);
            let end = quote!(::core::option::Option<::core::primitive::u32>);
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
            below: quote!(::core::option::Option<::core::primitive::u32>),
        };
    }
    // The runtime has lists of these sizes.
    let size = match arms.len() {
        0..=4 => 4,
        5..=16 => 16,
        _ => LARGEST,
    };
    let all = Ident::new("__All", Span::call_site());
    code.extend(dispatch(cx, &all, &arms, size, 0, &level, &quote!(())));
    let head = head(cx);
    let result = future();
    let exists = cx.exists();
    let function = format_ident!("upto{size}");
    let name = cx.own();
    let state = cx.state;
    code.extend(quote! {
        fn __step<'a>(#head) -> #result #exists {
            __petalflow::#function::<#all, #name, #state>(__flow, __node, __task)
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
    range: &dyn ToTokens,
    arms: &[TokenStream],
    size: usize,
    first: usize,
    level: &Level,
    end: &TokenStream,
) -> TokenStream {
    let name = cx.own();
    let state = cx.state;
    let of = format_ident!("Upto{size}");
    let exists = cx.exists();
    let width = number(level.width);
    let below = &level.below;
    let first = number(first);
    let no_arm = quote!(__petalflow::NoArm);
    let types = (0..size).map(|index| {
        let name = format_ident!("A{index}");
        let arm = arms.get(index).unwrap_or(&no_arm);
        // These tokens have the span of the node, see `node_over`.
        let span = arm.span();
        let name = respan(quote!(type #name =), span);
        let semi = respan(quote!(;), span);
        quote!(#name #arm #semi)
    });
    quote! {
        enum #range {}
        // A deprecated node is reported once, where `nodes` names it.
        #[allow(deprecated)]
        impl __petalflow::#of<#name, #state> for #range #exists {
            const WIDTH: ::core::primitive::u32 = #width;
            const FIRST: ::core::primitive::u32 = #first;
            type Below = #below;
            type Rest = #end;
            #(#types)*
        }
    }
}

fn head(cx: &Cx<'_>) -> TokenStream {
    let name = cx.own();
    let state = cx.state;
    quote!(__flow: &'a #name, __node: ::core::primitive::u32, __task: &'a mut __petalflow::Step<'_, #state>)
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
            let span = value.ty.span();
            let state = cx.state;
            let flow = variable_at("__flow", span);
            let step = variable_at("__task", span);
            // A value that is not a node is reported in the table of the nodes, and not here again.
            quote_spanned! {span=>
                async move {
                    #[allow(unused_imports)]
                    use __petalflow::NoCall as _;
                    __petalflow::Call::<#state, _>::of(__petalflow::given(&#flow.values.#name)).call(#step).await
                }
            }
        }
        Kind::Subflow(_) => {
            let call = numbered("__call_", index);
            quote!(#call(__task))
        }
    };
    let name = cx.own();
    let state = cx.state;
    let arm = numbered("__Arm_", index);
    let head = head(cx);
    let future = future();
    let exists = cx.exists();
    code.extend(quote! {
        #[allow(non_camel_case_types)]
        enum #arm {}
        impl __petalflow::Arm<#name, #state, ()> for #arm #exists {
            type Output = ::core::result::Result<(), __petalflow::BoxError>;
            #[allow(unused_variables)]
            fn call<'a>(#head) -> #future {
                #call
            }
            fn finish(__output: Self::Output, _: &mut __petalflow::Step<'_, #state>) -> Self::Output {
                __output
            }
        }
    });
    arm.to_token_stream()
}

/// A generated variable with a span of the user.
fn variable_at(name: &str, span: Span) -> Ident {
    Ident::new(name, Span::call_site().located_at(span))
}
