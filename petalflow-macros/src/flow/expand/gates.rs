//! Interrupts: rows of a table, and one function per guard.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::nodes::{check_at, chunk};
use super::reads::{binding, key};
use super::{Cx, int, list, number};
use crate::flow::ast::Guard;
use crate::flow::model::Gate;
use crate::paths::local;

/// One row per interrupt, in the order of their statements.
pub(super) fn rows(cx: &Cx<'_>) -> TokenStream {
    list(cx.model.gates.iter().map(|gate| {
        let (node, after, guarded) = (int(gate.node), gate.after, gate.guard.is_some());
        quote!((#node, #after, #guarded))
    }))
}

/// What is known of the nodes, with what the guards read; `facts` is what is known without them.
pub(super) fn facts(cx: &Cx<'_>, facts: TokenStream) -> TokenStream {
    if guards(cx).next().is_none() {
        return facts;
    }
    let reads = list(guards(cx).map(|(_, gate, guard)| {
        let (node, after) = (int(gate.node), gate.after);
        let keys = guard.params.iter().filter_map(|param| {
            let (key, cfgs) = (key(param)?, &param.cfgs);
            Some(quote!(#(#cfgs)* { keys = keys.union(#key); }))
        });
        quote!((#node, #after, { #[allow(unused_mut)] let mut keys = __petalflow::KeySet::NONE; #(#keys)* keys }))
    }));
    quote!(__petalflow::guarded(#facts, &[#reads]))
}

/// The functions of the guards, and the checks of what they read.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let mut code = TokenStream::new();
    for (number, gate, guard) in guards(cx) {
        code.extend(function(cx, number, guard));
        if !cx.lost {
            code.extend(guard.params.iter().filter_map(|param| {
                let (node, after, key, cfgs) =
                    (int(gate.node), gate.after, key(param)?, &param.cfgs);
                let check = check_at(
                    &param.ident.to_token_stream(),
                    quote!(__petalflow::guard_read(__CHECKED, #node, #key, #after)),
                );
                Some(quote!(#(#cfgs)* #check))
            }));
        }
    }
    code
}

fn function(cx: &Cx<'_>, number: usize, guard: &Guard) -> TokenStream {
    let Guard {
        params,
        returns,
        body,
    } = guard;
    let (name, state, snapshot) = (name(number), cx.state, local("state"));
    let bindings = params.iter().map(binding);
    // The body stays in a closure, so that its `return` and `?` mean what they say.
    let stops = quote_spanned!(body.span()=> __petalflow::Guard::stops((|| #returns #body)()));
    quote! {
        #[allow(clippy::all, clippy::pedantic)]
        fn #name(#snapshot: &#state) -> ::core::result::Result<bool, __petalflow::BoxError> {
            #(#bindings)*
            #stops
        }
    }
}

/// `Flow::gate`, where there is a guard to ask.
pub(super) fn method(cx: &Cx<'_>) -> TokenStream {
    if guards(cx).next().is_none() {
        return TokenStream::new();
    }
    let state = cx.state;
    let arms = guards(cx).map(|(place, ..)| {
        let (guard, place) = (name(place), number(place));
        quote!(#place => #guard(state),)
    });
    quote! {
        fn gate(
            &self,
            gate: u32,
            state: &#state,
        ) -> ::core::result::Result<bool, __petalflow::BoxError> {
            match gate {
                #(#arms)*
                _ => __petalflow::no_guard(),
            }
        }
    }
}

/// The function of the guard of the interrupt at a place.
fn name(place: usize) -> Ident {
    chunk("__guard", place)
}

/// The interrupts with guards, by place.
fn guards<'a>(cx: &Cx<'a>) -> impl Iterator<Item = (usize, &'a Gate, &'a Guard)> {
    let gates = cx.model.gates.iter().enumerate();
    gates.filter_map(|(place, gate)| Some((place, gate, gate.guard.as_ref()?)))
}
