//! Sub-flows. The closures become functions, because constant evaluation needs the type that `out` returns.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::reads::binding;
use super::tokens::{check_at, numbered};
use crate::flow::ast::Subflow;
use crate::flow::model::Node;
use crate::node::model::{self, Source};
use crate::paths::{local, name};
use crate::types;

/// The functions of a sub-flow.
pub(super) fn code(cx: &Cx<'_>, index: usize, node: &Node, subflow: &Subflow) -> TokenStream {
    let state = cx.state;
    let call = numbered("__call_", index);
    let names = Names::of(index);
    let Names {
        fresh,
        input,
        output,
        require,
    } = &names;
    let (ty, end, end_ty) = (&subflow.ty, &subflow.end.pat, &subflow.end.ty);
    let keep = subflow.keep;
    let child = ty.span();
    let instance = match &subflow.values {
        None => quote_spanned!(child=> <#ty as __petalflow::Subflow>::fresh()),
        Some((flow, values)) => quote_spanned! {values.span()=>
            __petalflow::with_values::<#ty>({ let #flow = <#ty>::new(); #values }.launch())
        },
    };
    let fresh_code = quote_spanned! {child=>
        fn #fresh() -> impl __petalflow::Flow<State = #end_ty> {
            #instance
        }
    };
    let (snapshot, (params, bindings, item)) = (local("state"), reads(cx, subflow));
    let (body, out) = (&subflow.input, &subflow.output);
    let input_code = quote_spanned! {body.span()=>
        #[allow(clippy::all, clippy::pedantic)]
        fn #input(#snapshot: &#state, #params) -> <#end_ty as __petalflow::State>::Input {
            #bindings
            ::core::convert::Into::into(#body)
        }
    };
    let output_code = quote_spanned! {out.span()=>
        #[allow(clippy::all, clippy::pedantic)]
        fn #output(#end: #end_ty) -> impl __petalflow::Output<#state> {
            #out
        }
    };
    let item = item.map(|item| quote!(__petalflow::Scope::item::<#item>(__scope)?));
    let text = &node.name;
    let once = if cx.lost {
        TokenStream::new()
    } else {
        check_at(
            out,
            quote!(__petalflow::once::<#state, _, _, _>(#text, &#output)),
        )
    };
    quote! {
        #fresh_code
        #input_code
        #output_code
        #once
        fn #require(__requirements: &mut __petalflow::Requirements<'_>) {
            __petalflow::require_subflow(#fresh, __requirements);
        }
        fn #call<'a>(
            __task: &'a mut __petalflow::Step<'_, #state>,
        ) -> impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>> + ::core::marker::Send + 'a
        where
            for<'__b> #state: __petalflow::StateFor<'__b>,
        {
            async move {
                let (__scope, __state, __effects) = __task.parts();
                let __input = #input(__state, #item);
                __petalflow::subflow(#fresh(), __scope, __input, #output, __effects, #keep).await
            }
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
    ) = (cx.state, Names::of(index));
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

/// The names of these functions.
struct Names {
    fresh: Ident,
    input: Ident,
    output: Ident,
    require: Ident,
}

impl Names {
    fn of(index: usize) -> Self {
        Names {
            fresh: numbered("__fresh_", index),
            input: numbered("__in_", index),
            output: numbered("__out_", index),
            require: numbered("__require_", index),
        }
    }
}

/// The owned type of the item, if `in` takes it.
pub(super) fn item(subflow: &Subflow) -> Option<TokenStream> {
    model::item(&subflow.params).map(types::owned)
}

/// The parameter for the item, the bindings of the closure's parameters, and the type of the item.
fn reads(cx: &Cx<'_>, subflow: &Subflow) -> (TokenStream, TokenStream, Option<TokenStream>) {
    let item = item(subflow);
    let taken = local("item");
    let param = item
        .as_ref()
        .map(|item| quote!(#taken: &#item))
        .unwrap_or_default();
    let bindings = subflow.params.iter().map(|param| binding(cx, param, None));
    (param, bindings.collect(), item)
}
