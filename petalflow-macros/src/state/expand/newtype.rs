//! `EssayDraft`: the type of a key.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};

use super::cx::{Cx, at};
use crate::paths::{keyword, local, no_generics};
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
    let doc = format!("The key `{name}` of [`{}`].", cx.state.ident);
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    let generics = no_generics(&cx.state.ident);
    let others = key
        .is_std
        .then(|| quote!(, ::core::fmt::Debug, ::core::cmp::PartialEq));
    quote! {
        #[doc = #doc]
        #blank
        #docs
        #deprecated
        #lints
        #[allow(dead_code, missing_copy_implementations, missing_debug_implementations, non_camel_case_types, unreachable_pub)]
        #[derive(::core::clone::Clone #others)]
        #vis #keyword #newtype #generics (#vis #ty) #end
    }
}

/// `Debug` and `PartialEq`, if the type has them. A bound on a reference with any lifetime may be false, while rustc reports
/// `where Grade: Debug` at a type without `Debug`.
pub(super) fn conditional_impls(key: &Key) -> TokenStream {
    if key.is_std {
        return TokenStream::new();
    }
    let newtype = &key.newtype;
    let text = newtype.to_string();
    let other = local("other");
    let f = local("f");
    quote! {
        impl __pf::Debug for #newtype where for<'__a> &'__a __pf::Value<#newtype>: __pf::Debug {
            fn fmt(&self, #f: &mut __pf::fmt::Formatter<'_>) -> __pf::fmt::Result {
                #f.debug_tuple(#text).field(&&self.0).finish()
            }
        }
        impl __pf::PartialEq for #newtype where for<'__a> &'__a __pf::Value<#newtype>: __pf::PartialEq {
            fn eq(&self, #other: &Self) -> __pf::bool {
                __pf::equal(&self.0, &#other.0)
            }
        }
    }
}
