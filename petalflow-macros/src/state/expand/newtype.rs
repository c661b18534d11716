//! `EssayDraft`: the type of a key.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;

use super::cx::{Cx, at};
use crate::paths::{keyword, local, no_generics};
use crate::site::{self, quote};
use crate::state::model::Key;

pub(super) fn item(cx: &Cx, key: &Key) -> TokenStream {
    let Key {
        ty,
        vis,
        newtype,
        docs,
        deprecated,
        name,
        ..
    } = key;
    let lints = &cx.state.lints;
    // All of it is at the field, where rustc shows the type.
    let vis = at(&key.field, vis.to_token_stream());
    let end = at(&key.field, quote!(;));
    let keyword = keyword("struct", &key.field);
    let doc = site::text(&format!("The key `{name}` of [`{}`].", cx.state.ident));
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    let generics = no_generics(&cx.state.ident);
    quote! {
        #[doc = #doc]
        #blank
        #docs
        #deprecated
        #lints
        #[allow(dead_code, missing_copy_implementations, missing_debug_implementations, non_camel_case_types, unreachable_pub, clippy::items_after_statements)]
        #vis #keyword #newtype #generics (#vis #ty) #end
    }
}

/// `Clone`, `Debug` and `PartialEq`. Not derives, which would repeat the list of lints on each.
///
/// A type that is not one of std may lack `Debug` and `PartialEq`. A bound on a reference with any lifetime may be false, while
/// rustc reports `where Grade: Debug` at a type without `Debug`.
pub(super) fn impls(key: &Key) -> TokenStream {
    let newtype = &key.newtype;
    let text = site::text(&newtype.to_string());
    let other = local("other");
    let f = local("f");
    let clone = clone_field(key, &quote!(0));
    let bound = |path: TokenStream| {
        (!key.is_std).then(|| quote!(where for<'__a> &'__a __pf::Value<#newtype>: #path))
    };
    let debug = bound(quote!(__pf::Debug));
    let partial_eq = bound(quote!(__pf::PartialEq));
    quote! {
        impl __pf::Clone for #newtype {
            fn clone(&self) -> Self {
                #newtype(#clone)
            }
        }
        impl __pf::Debug for #newtype #debug {
            fn fmt(&self, #f: &mut __pf::fmt::Formatter<'_>) -> __pf::fmt::Result {
                #f.debug_tuple(#text).field(&&self.0).finish()
            }
        }
        impl __pf::PartialEq for #newtype #partial_eq {
            fn eq(&self, #other: &Self) -> __pf::bool {
                __pf::equal(&self.0, &#other.0)
            }
        }
    }
}

/// A clone of the value in this field. A type without `Clone` is reported at the type.
pub(super) fn clone_field(key: &Key, field: &dyn ToTokens) -> TokenStream {
    // `self` is not found with the span of a type that a `macro_rules!` takes. The parentheses let the argument begin and end at the
    // type.
    let this = Ident::new("self", site::span());
    quote_spanned!(key.ty.span()=> __pf::Clone::clone(&(#this.#field)))
}
