//! Sub-flows. The closures become functions, because constant evaluation needs the type that `out` returns.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::reads::binding;
use super::tokens::{check_at, numbered};
use crate::flow::ast::Subflow;
use crate::flow::model::{Kind, Node};
use crate::node::model::{self, Source};
use crate::paths::{local, name};
use crate::site::{self, quote};
use crate::types;

/// The types and functions of the sub-flows.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let nodes = cx.model.nodes.iter().enumerate();
    let code = nodes.filter_map(|(index, node)| match &node.kind {
        Kind::Subflow(subflow) => Some(functions(cx, index, node, subflow)),
        _ => None,
    });
    code.collect()
}

fn functions(cx: &Cx<'_>, index: usize, node: &Node, subflow: &Subflow) -> TokenStream {
    let state = cx.state;
    let Names {
        flow,
        fresh,
        input,
        output,
        require,
    } = &Names::of(index, subflow);
    let (ty, end, end_ty) = (&subflow.ty, &subflow.end.pat, &subflow.end.ty);
    let child = ty.span();
    let is_flow = numbered("__IS_FLOW", index);
    // If it is not a flow, the constant fails, and the name is a type with an error.
    let flow_type = quote_spanned! {child=>
        const #is_flow: ::core::primitive::usize = __checks::is_flow::<#ty>();
        type #flow = <#ty as __petalflow::Proven<#is_flow>>::Type;
    };
    let flow_name = flow;
    let instance = match &subflow.values {
        None => quote_spanned!(child=> __checks::subflow()),
        Some((flow, values)) => quote_spanned! {values.span()=>
            __petalflow::with_values({ let #flow = <#flow_name>::new(); #values }.launch())
        },
    };
    let (snapshot, (params, bindings, _)) = (local("state"), reads(cx, subflow));
    let (body, out) = (&subflow.input, &subflow.output);
    let input_code = quote_spanned! {body.span()=>
        #[allow(clippy::all, clippy::pedantic)]
        fn #input(#snapshot: &#state, #params) -> __petalflow::InputOfFlow<#flow> {
            #bindings
            ::core::convert::Into::into(#body)
        }
    };
    // The state of the sub-flow is named at the type that the user gives it, so that rustc reports another type there.
    let returned = quote_spanned!(end_ty.span()=> __petalflow::StateOf<#flow>);
    let ended = quote_spanned!(end_ty.span()=> __end);
    let output_code = quote_spanned! {out.span()=>
        #[allow(clippy::all, clippy::pedantic)]
        fn #output(#ended: #returned) -> impl __petalflow::Output<#state> {
            let #end: #end_ty = #ended;
            #out
        }
    };
    let text = site::text(&node.name);
    let once = if cx.lost {
        TokenStream::new()
    } else {
        check_at(
            out,
            quote!(__petalflow::once::<#state, _, _, _>(#text, &#output)),
        )
    };
    quote! {
        #flow_type
        fn #fresh() -> #flow {
            #instance
        }
        #input_code
        #output_code
        #once
        fn #require(__requirements: &mut __petalflow::Requirements<'_>) {
            __petalflow::require_subflow(#fresh, __requirements);
        }
    }
}

/// The future of a sub-flow.
pub(super) fn call(cx: &Cx<'_>, index: usize, subflow: &Subflow) -> TokenStream {
    let Names {
        fresh,
        input,
        output,
        ..
    } = Names::of(index, subflow);
    let keep = subflow.keep;
    let (_, _, item) = reads(cx, subflow);
    let item = item.map(|item| quote!(__petalflow::Scope::item::<#item>(__scope)?));
    quote! {
        async move {
            let (__scope, __state, __effects) = __task.parts();
            let __input = #input(__state, #item);
            __petalflow::subflow(#fresh(), __scope, __input, #output, __effects, #keep).await
        }
    }
}

/// The row of a sub-flow in the table of nodes.
pub(super) fn spec(cx: &Cx<'_>, index: usize, subflow: &Subflow) -> TokenStream {
    let (
        state,
        Names {
            output, require, ..
        },
    ) = (cx.state, Names::of(index, subflow));
    let keys = subflow
        .params
        .iter()
        .filter_map(|param| match param.source {
            Source::Key(_) => Some(name(&param.ident)),
            _ => None,
        });
    let takes = if let Some(item) = item(subflow) {
        quote!({
            #[allow(unused_imports)]
            use __petalflow::NoItemCodec as _;
            ::core::option::Option::Some(__petalflow::ItemProbe::<#item>::CODEC)
        })
    } else {
        quote!(::core::option::Option::None)
    };
    quote!(__petalflow::of_out::<#state, _, _, _>(&[#(#keys),*], #takes, &#output, #require))
}

/// The names of the type and the functions.
struct Names {
    /// The type of the sub-flow.
    flow: Ident,
    fresh: Ident,
    input: Ident,
    output: Ident,
    require: Ident,
}

impl Names {
    fn of(index: usize, subflow: &Subflow) -> Self {
        Names {
            flow: format_ident!("__Flow{index}", span = subflow.ty.span()),
            fresh: numbered("__fresh_", index),
            input: numbered("__in_", index),
            output: numbered("__out_", index),
            require: numbered("__require_", index),
        }
    }
}

/// The owned type of the item, if `in` takes it.
pub(super) fn item(subflow: &Subflow) -> Option<TokenStream> {
    model::item(&subflow.params).map(types::owned_form)
}

/// The parameter for the item, the bindings of the closure's parameters, and the type of the item.
fn reads(cx: &Cx<'_>, subflow: &Subflow) -> (TokenStream, TokenStream, Option<TokenStream>) {
    let item = item(subflow);
    let taken = local("item");
    let param = item
        .as_ref()
        .map(|item| quote!(#taken: &#item))
        .unwrap_or_default();
    let bindings = subflow.params.iter().map(|param| binding(cx, param));
    (param, bindings.collect(), item)
}
