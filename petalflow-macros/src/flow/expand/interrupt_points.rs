//! Interrupts: rows of a table, and one function per guard.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::Cx;
use super::reads::{binding, key};
use super::tokens::{check_at, int, list, number, numbered};
use crate::flow::ast::Guard;
use crate::flow::model::InterruptPoint;
use crate::node::model::{Param, Source};
use crate::paths::local;

/// One row per interrupt, in the order of their statements.
pub(super) fn rows(cx: &Cx<'_>) -> TokenStream {
    list(cx.model.interrupt_points.iter().enumerate().map(|(index, point)| {
        let (node, after, guarded) = (int(point.node.as_u32()), point.after, point.guard.is_some());
        let none = || quote!(__petalflow::KeySet::NONE);
        let reads = point.guard.as_ref();
        let reads = reads.map_or_else(none, |guard| keys(index, guard));
        quote!(__petalflow::InterruptPointRow { node: #node, after: #after, guarded: #guarded, reads: #reads })
    }))
}

/// The facts of the nodes, with the keys that guards read. `facts` are those without the guards.
pub(super) fn facts(cx: &Cx<'_>, facts: TokenStream) -> TokenStream {
    if guards(cx).next().is_none() {
        return facts;
    }
    let reads = list(guards(cx).map(|(index, point, guard)| {
        let (node, after) = (int(point.node.as_u32()), point.after);
        let keys = keys(index, guard);
        quote!((#node, #after, #keys))
    }));
    quote!(__petalflow::guarded(#facts, &[#reads]))
}

/// The keys that a guard reads.
fn keys(index: usize, guard: &Guard) -> TokenStream {
    let keys = read(guard).map(|(at, param)| {
        let (key, cfgs) = (key_name(index, at), &param.cfgs);
        quote!(#(#cfgs)* { keys = keys.union(#key); })
    });
    quote!({ #[allow(unused_mut)] let mut keys = __petalflow::KeySet::NONE; #(#keys)* keys })
}

/// The functions of the guards, the keys that they read, and the checks of those reads.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let mut code = TokenStream::new();
    for (index, point, guard) in guards(cx) {
        code.extend(function(cx, index, guard));
        for (at, param) in read(guard) {
            let (node, after, cfgs) = (int(point.node.as_u32()), point.after, &param.cfgs);
            let (name, key) = (key_name(index, at), key(cx, param));
            let check = check_at(
                &param.ident.to_token_stream(),
                quote!(__petalflow::guard_read(__CHECKED, #node, #name, #after)),
            );
            let check = (!cx.lost).then(|| quote!(#(#cfgs)* #check));
            code.extend(quote! {
                #(#cfgs)*
                const #name: __petalflow::KeySet = #key;
                #check
            });
        }
    }
    code
}

/// The parameters of a guard that read a key, with their indices.
fn read(guard: &Guard) -> impl Iterator<Item = (usize, &Param)> {
    let params = guard.params.iter().enumerate();
    params.filter(|(_, param)| matches!(param.source, Source::Key(_) | Source::KeyOf(..)))
}

/// The constant with the key of a parameter. With one constant, a type that is not a key is one error.
fn key_name(index: usize, param: usize) -> Ident {
    numbered(&format!("__READ_{index}"), param)
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
        fn #name(#snapshot: &#state) -> ::core::result::Result<bool, __petalflow::BoxError> {
            #(#bindings)*
            #stops
        }
    }
}

/// `Flow::guard`, if there is a guard.
pub(super) fn method(cx: &Cx<'_>) -> TokenStream {
    if guards(cx).next().is_none() {
        return TokenStream::new();
    }
    let state = cx.state;
    let arms = guards(cx).map(|(index, ..)| {
        let (guard, index) = (name(index), number(index));
        quote!(#index => #guard(state),)
    });
    quote! {
        fn guard(
            &self,
            point: u32,
            state: &#state,
        ) -> ::core::result::Result<bool, __petalflow::BoxError> {
            match point {
                #(#arms)*
                _ => __petalflow::no_guard(),
            }
        }
    }
}

/// The name of the function of an interrupt's guard.
fn name(index: usize) -> Ident {
    numbered("__guard", index)
}

/// The interrupts with guards, with their indices.
fn guards<'a>(cx: &Cx<'a>) -> impl Iterator<Item = (usize, &'a InterruptPoint, &'a Guard)> {
    let interrupt_points = cx.model.interrupt_points.iter().enumerate();
    interrupt_points.filter_map(|(index, point)| Some((index, point, point.guard.as_ref()?)))
}
