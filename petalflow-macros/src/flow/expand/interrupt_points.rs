//! Interrupts: rows of a table, and one function per guard.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::reads::{self, binding, key};
use super::tokens::{check_at, int, number, numbered};
use crate::flow::ast::Guard;
use crate::flow::model::InterruptPoint;
use crate::node::model::{Param, Source};
use crate::paths::local;
use crate::site::{self, quote};

/// One row per interrupt, in the order of their statements.
pub(super) fn rows(cx: &Cx<'_>) -> TokenStream {
    let points = cx.model.interrupt_points.iter().enumerate();
    let rows = points.map(|(index, point)| {
        let node = int(point.node.as_u32());
        let after = site::flag(point.after);
        let guarded = site::flag(point.guard.is_some());
        let reads = if let Some(guard) = &point.guard {
            keys(index, guard)
        } else {
            quote!(__petalflow::KeySet::NONE)
        };
        quote!(__petalflow::InterruptPointRow { node: #node, after: #after, guarded: #guarded, reads: #reads })
    });
    quote!(#(#rows),*)
}

/// The facts of the nodes, with the keys that guards read. `facts` are those without the guards.
pub(super) fn facts(cx: &Cx<'_>, facts: TokenStream) -> TokenStream {
    let guards = guards(cx);
    if guards.is_empty() {
        return facts;
    }
    let reads = guards.iter().map(|(index, point, guard)| {
        let node = int(point.node.as_u32());
        let after = site::flag(point.after);
        let keys = keys(*index, guard);
        quote!((#node, #after, #keys),)
    });
    quote!(__petalflow::guarded(#facts, &[#(#reads)*]))
}

/// The keys that a guard reads.
fn keys(index: usize, guard: &Guard) -> TokenStream {
    let keys = read(guard).into_iter().map(|(at, param)| {
        let key = key_name(index, at);
        let cfgs = &param.cfgs;
        quote!(#cfgs { __keys = __keys.union(#key); })
    });
    quote!({ #[allow(unused_mut)] let mut __keys = __petalflow::KeySet::NONE; #(#keys)* __keys })
}

/// The functions of the guards, the keys that they read, and the checks of those reads.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let mut code = TokenStream::new();
    for (index, point, guard) in guards(cx) {
        code.extend(function(cx, index, guard));
        for (at, param) in read(guard) {
            let node = int(point.node.as_u32());
            let after = site::flag(point.after);
            let cfgs = &param.cfgs;
            let name = key_name(index, at);
            let index_name = index_name(index, at);
            let index = reads::index(cx, param, &index_name);
            let index = index.map(|index| quote!(#cfgs #index));
            let key = key(param, &index_name);
            let check = check_at(
                &param.ident.to_token_stream(),
                quote!(__petalflow::guard_read(__CHECKED, #node, #name, #after)),
            );
            let check = (!cx.lost).then(|| quote!(#cfgs #check));
            code.extend(quote! {
                #index
                #cfgs
                const #name: __petalflow::KeySet = #key;
                #check
            });
        }
    }
    code
}

/// The parameters of a guard that read a key, with their indices.
fn read(guard: &Guard) -> Vec<(usize, &Param)> {
    let params = guard.params.iter().enumerate();
    let is_key = |param: &Param| matches!(param.source, Source::Key(_) | Source::KeyOf(..));
    params.filter(|(_, param)| is_key(param)).collect()
}

/// The constant with the index of the key of a parameter, if its type is named.
fn index_name(index: usize, param: usize) -> Ident {
    format_ident!("__INDEX_{index}_{param}", span = site::span())
}

/// The constant with the key of a parameter.
fn key_name(index: usize, param: usize) -> Ident {
    format_ident!("__READ_{index}_{param}", span = site::span())
}

fn function(cx: &Cx<'_>, number: usize, guard: &Guard) -> TokenStream {
    let Guard {
        params,
        returns,
        body,
    } = guard;
    let (name, state, snapshot) = (name(number), cx.state, local("state"));
    let bindings = params.iter().map(|param| binding(cx, param));
    // The body stays in a closure, because it can contain `return` and `?`.
    let stops = quote_spanned!(body.span()=> __petalflow::Guard::stops((|| #returns #body)()));
    quote! {
        #[allow(clippy::all, clippy::pedantic)]
        fn #name(#snapshot: &#state) -> ::core::result::Result<::core::primitive::bool, __petalflow::BoxError> {
            #(#bindings)*
            #stops
        }
    }
}

/// `Flow::guard`, if there is a guard.
pub(super) fn method(cx: &Cx<'_>) -> TokenStream {
    let guards = guards(cx);
    if guards.is_empty() {
        return TokenStream::new();
    }
    let state = cx.state;
    let arms = guards.iter().map(|(index, ..)| {
        let guard = name(*index);
        let index = number(*index);
        quote!(#index => #guard(__state),)
    });
    quote! {
        fn guard(
            &self,
            __point: ::core::primitive::u32,
            __state: &#state,
        ) -> ::core::result::Result<::core::primitive::bool, __petalflow::BoxError> {
            match __point {
                #(#arms)*
                _ => __petalflow::no_guard(),
            }
        }
    }
}

/// The name of the function of an interrupt's guard.
fn name(index: usize) -> Ident {
    numbered("__guard_", index)
}

/// The interrupts with guards, with their indices.
fn guards<'a>(cx: &Cx<'a>) -> Vec<(usize, &'a InterruptPoint, &'a Guard)> {
    let points = cx.model.interrupt_points.iter().enumerate();
    let guards = points.filter_map(|(index, point)| Some((index, point, point.guard.as_ref()?)));
    guards.collect()
}
