//! The parameters of closures in a flow.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::cx::Cx;
use crate::node::model::{Param, Shape, Source};
use crate::paths::{local, name};
use crate::site::{self, quote};

/// The set of the key that a parameter reads. `None` for the whole state. The set is empty for an unknown key, because rustc
/// reports it at [`binding`].
///
/// `index` is the constant that [`index`] declares.
pub(super) fn key(param: &Param, index: &Ident) -> Option<TokenStream> {
    match &param.source {
        Source::Key(_) => {
            let name = site::text(&name(&param.ident));
            Some(quote!(__petalflow::key_named(__KEYS, #name)))
        }
        Source::KeyOf(..) => Some(quote!(__petalflow::KeySet::of(#index))),
        Source::State | Source::Item(_) | Source::Run => None,
    }
}

/// A constant with the index of a key that is named by its type. What else depends on the key names this constant, so that a type
/// that is not a key is one error.
pub(super) fn index(cx: &Cx<'_>, param: &Param, name: &Ident) -> Option<TokenStream> {
    let Source::KeyOf(key, _) = &param.source else {
        return None;
    };
    let index = key_of(&cx.state.to_token_stream(), key, "INDEX");
    Some(quote!(const #name: ::core::primitive::usize = #index;))
}

/// `<EssayNotes as KeyOf<Essay>>::item`. Every token has the span of the key.
fn key_of(state: &TokenStream, key: &Type, item: &'static str) -> TokenStream {
    let item = Ident::new(item, key.span());
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
    let state = local("state");
    let item = local("item");
    let one = local("one");
    let value = match source {
        Source::Key(Shape::Ref) => quote_spanned!(ident.span()=> &(*#state).#ident),
        Source::Key(Shape::Option) => {
            quote_spanned!(ident.span()=> __petalflow::option(&(*#state).#ident))
        }
        Source::KeyOf(key, shape) => {
            let get = key_of(&cx.state.to_token_stream(), key, "get");
            let mut state = state;
            state.set_span(key.span().resolved_at(state.span()));
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
        // In a `match` the inner reference is coerced. `Option<&String>` itself does not coerce to `Option<&str>`.
        return quote_spanned! {ident.span()=>
            #cfgs
            let #ident: #ty = match #value {
                ::core::option::Option::Some(#one) => ::core::option::Option::Some(#one),
                ::core::option::Option::None => ::core::option::Option::None,
            };
        };
    }
    quote_spanned!(ident.span()=> #cfgs let #ident: #ty = #value;)
}
