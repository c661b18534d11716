//! Sub-flows. The closures become functions, because constant evaluation needs the type that `out` returns.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::reads::binding;
use super::tokens::{check_at, numbered};
use crate::flow::ast::Subflow;
use crate::flow::model::Node;
use crate::node::model::{self, Source};
use crate::paths::{Name, local, name};
use crate::template::template;
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
    let fresh_code = template! { child=> [fresh, end_ty, ty]
        fn #fresh() -> impl __petalflow::Flow<State = #end_ty> {
            <#ty as __petalflow::Subflow>::fresh()
        }
    };
    let (snapshot, (params, bindings, item)) = (local("state"), reads(cx, subflow));
    let (body, out) = (&subflow.input, &subflow.output);
    let input_code = template! { body.span()=> [input, snapshot, state, params, end_ty, bindings, body]
        #[allow(clippy::all, clippy::pedantic)]
        fn #input(#snapshot: &#state, #params) -> <#end_ty as __petalflow::State>::Input {
            #bindings
            ::core::convert::Into::into(#body)
        }
    };
    let output_code = template! { out.span()=> [output, end, end_ty, state, out]
        #[allow(clippy::all, clippy::pedantic)]
        fn #output(#end: #end_ty) -> impl __petalflow::Output<#state> {
            #out
        }
    };
    let item = item.map(|item| quote!(__petalflow::Scope::item::<#item>(scope)?));
    let text = &node.name;
    let once = if cx.lost {
        TokenStream::new()
    } else {
        check_at(
            out,
            quote!(__petalflow::once::<#state, _, _, _>(#text, &#output)),
        )
    };
    template! { [
        fresh_code, input_code, output_code, once, require, fresh, call, state, input, item,
        output, keep
    ]
        #fresh_code
        #input_code
        #output_code
        #once
        fn #require(requirements: &mut __petalflow::Requirements<'_>) {
            __petalflow::require_subflow(#fresh, requirements);
        }
        fn #call<'a>(
            step: &'a mut __petalflow::Step<'_, #state>,
        ) -> impl ::core::future::Future<Output = ::core::result::Result<(), __petalflow::BoxError>> + ::core::marker::Send + 'a
        where
            for<'__b> #state: __petalflow::StateFor<'__b>,
        {
            async move {
                let (scope, state, effects) = step.parts();
                let input = #input(state, #item);
                __petalflow::subflow(#fresh(), scope, input, #output, effects, #keep).await
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
    let mut keys = Vec::new();
    for param in &subflow.params {
        if let Source::Key(_) = param.source {
            keys.push(name(&param.ident));
        }
    }
    let takes = if let Some(item) = item(subflow) {
        template!([item] {
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
    fresh: Name,
    input: Name,
    output: Name,
    require: Name,
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
    let mut bindings = TokenStream::new();
    for param in &subflow.params {
        bindings.extend(binding(cx, param));
    }
    (param, bindings, item)
}
