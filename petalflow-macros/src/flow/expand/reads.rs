//! What a closure in a flow reads: its parameters are named like keys.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::cx::Cx;
use crate::node::model::{Param, Shape, Source};
use crate::paths::{local, name};

/// The set of the one key that a parameter reads; none for the whole state. A name that is no key is reported where it is
/// read, so here it is an empty set.
pub(super) fn key(cx: &Cx<'_>, param: &Param) -> Option<TokenStream> {
    match &param.source {
        Source::Key(_) => {
            let name = name(&param.ident);
            Some(quote!(__petalflow::key_named(__KEYS, #name)))
        }
        Source::KeyOf(key, _) => {
            let index = key_of(cx, key, "INDEX");
            Some(quote_spanned!(key.span()=> __petalflow::KeySet::of(#index)))
        }
        Source::State | Source::Item(_) | Source::Run => None,
    }
}

/// `<EssayNotes as KeyOf<Essay>>::item`, of which every token is the user's: where it is no such key, all of these give one
/// and the same error.
fn key_of(cx: &Cx<'_>, key: &Type, item: &str) -> TokenStream {
    let (state, item) = (cx.state, Ident::new(item, key.span()));
    quote_spanned!(key.span()=> <#key as __petalflow::KeyOf<#state>>::#item)
}

/// `let draft: &str = &state.draft;`
pub(super) fn binding(cx: &Cx<'_>, param: &Param) -> TokenStream {
    let Param {
        ident,
        ty,
        cfgs,
        source,
    } = param;
    let (state, item, one) = (local("state"), local("item"), local("one"));
    let value = match source {
        Source::Key(Shape::Ref) => quote_spanned!(ident.span()=> &(*#state).#ident),
        Source::Key(Shape::Option) => {
            quote_spanned!(ident.span()=> __petalflow::option(&(*#state).#ident))
        }
        Source::KeyOf(key, shape) => {
            let (get, state) = (
                key_of(cx, key, "get"),
                Ident::new("state", key.span().resolved_at(state.span())),
            );
            match shape {
                Shape::Ref => quote_spanned!(key.span()=> #get(#state)),
                Shape::Option => quote_spanned!(key.span()=> __petalflow::option(#get(#state))),
            }
        }
        Source::State => quote_spanned!(ident.span()=> #state),
        Source::Item(_) => quote_spanned!(ident.span()=> #item),
        Source::Run => quote_spanned!(ident.span()=> ::core::unreachable!("refused by the parser")),
    };
    if let Source::Key(Shape::Option) | Source::KeyOf(_, Shape::Option) = source {
        // `match` lets the value inside coerce: `Option<&String>` does not to `Option<&str>`.
        return quote_spanned! {ident.span()=>
            #(#cfgs)*
            let #ident: #ty = match #value {
                ::core::option::Option::Some(#one) => ::core::option::Option::Some(#one),
                ::core::option::Option::None => ::core::option::Option::None,
            };
        };
    }
    quote_spanned!(ident.span()=> #(#cfgs)* let #ident: #ty = #value;)
}
