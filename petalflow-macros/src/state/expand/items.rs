//! The generated types: the input, the newtypes of the keys, and the update.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};

use super::cx::{Cx, marks, shown, where_each};
use crate::paths::{impl_at, keyword, local, local_at, no_generics};
use crate::spans::with_spans;
use crate::state::model::{Initial, Key, State};

/// `EssayInput`.
pub(super) fn input(cx: &Cx) -> TokenStream {
    let State {
        ident,
        vis,
        input,
        lints,
        ..
    } = cx.state;
    let fields = cx.inputs().into_iter().map(|(_, key)| {
        let Key {
            field,
            ty,
            docs,
            deprecated,
            ..
        } = key;
        quote!(#docs #deprecated #vis #field: #ty,)
    });
    let doc = format!("The input of a run over [`{ident}`]: the keys marked `input`.");
    let generics = no_generics(ident);
    quote! {
        #[doc = #doc]
        #lints
        #[allow(non_camel_case_types, dead_code, private_interfaces, missing_copy_implementations, missing_debug_implementations, missing_docs, unreachable_pub)]
        #vis struct #input #generics {
            #(#fields)*
        }
    }
}

/// `EssayDraft`.
pub(super) fn newtype(cx: &Cx, key: &Key) -> TokenStream {
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
    let at = key.field.span();
    let vis = with_spans(vis.to_token_stream(), &|_| at);
    let keyword = keyword("struct", &key.field);
    let end = quote_spanned!(at=> ;);
    let doc = format!("The key `{name}` of [`{}`].", cx.state.ident);
    let blank = (!docs.is_empty()).then(|| quote!(#[doc = ""]));
    let generics = no_generics(&cx.state.ident);
    quote! {
        #[doc = #doc]
        #blank
        #docs
        #deprecated
        #lints
        #[allow(non_camel_case_types, dead_code, missing_copy_implementations, missing_debug_implementations, unreachable_pub)]
        #vis #keyword #newtype #generics (#vis #ty) #end
    }
}

/// `EssayUpdate`.
pub(super) fn update(cx: &Cx) -> TokenStream {
    let State {
        ident,
        vis,
        update,
        keys,
        lints,
        ..
    } = cx.state;
    let runtime = cx.runtime;
    let fields = keys.iter().map(|key| {
        let field = &key.field;
        let ty = cx.ty(key);
        quote!(#field: #runtime::state::Writes<#ty>,)
    });
    let doc = format!("The writes of one node to [`{ident}`].");
    let marks = marks();
    // One word per 64 keys.
    let words = cx.state.keys.len().div_ceil(64).max(1);
    quote! {
        #[doc = #doc]
        #lints
        #[allow(non_camel_case_types, missing_copy_implementations, missing_debug_implementations, unreachable_pub)]
        #vis struct #update {
            #(#fields)*
            #[doc(hidden)]
            #marks: #runtime::__private::Marks<#words>,
        }
    }
}

/// The implementations of the input.
pub(super) fn input_impls(cx: &Cx) -> TokenStream {
    let State { input, .. } = cx.state;
    let runtime = cx.runtime;
    let inputs = cx.keys(|key| key.flags.input.is_some());
    let text = input.to_string();
    let from = from(cx, &inputs);
    let needing =
        cx.keys(|key| key.flags.input.is_some() && !matches!(key.initial, Initial::Expr(_)));
    let where_default = where_each(cx, &needing, "DefaultFor");
    let where_clone = where_each(cx, &inputs, "CloneFor");
    let where_debug = where_each(cx, &inputs, "DebugFor");
    let defaults = cx.inputs().into_iter().map(|(index, key)| {
        let field = &key.field;
        match key.initial {
            Initial::Expr(_) => {
                let default = local_at("default_", index);
                quote!(#field: #default())
            }
            Initial::Implicit | Initial::Default => {
                quote!(#field: ::core::default::Default::default())
            }
        }
    });
    let fields = inputs.iter().map(|key| &key.field);
    let shown = inputs.iter().map(|key| shown(key));
    let f = local("f");
    quote! {
        #from
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::default::Default for #input #where_default {
            fn default() -> Self {
                #input { #(#defaults),* }
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::clone::Clone for #input #where_clone {
            fn clone(&self) -> Self {
                #input { #(#fields: ::core::clone::Clone::clone(&self.#fields),)* }
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::fmt::Debug for #input #where_debug {
            fn fmt(&self, #f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #runtime::__private::debug_struct(#f, #text, &[#(#shown),*])
            }
        }
    }
}

/// A state with one input key converts from its value. A state without input keys converts from `()`.
fn from(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let input = &cx.state.input;
    match inputs {
        [] => quote! {
            #[automatically_derived]
            impl ::core::convert::From<()> for #input {
                fn from((): ()) -> Self {
                    #input {}
                }
            }
        },
        [key] => {
            let field = &key.field;
            let ty = &key.ty;
            let value = local("value");
            // See `no_generics`. Here the type is in angle brackets even if it is not generic.
            let tokens = ty.to_token_stream();
            let generics = if tokens.into_iter().all(|token| token.to_string() != "<") {
                cx.runtime.respan(ty, quote!(<>))
            } else {
                no_generics(&cx.state.ident)
            };
            let from = quote! {
                #[automatically_derived]
                impl #generics ::core::convert::From<#ty> for #input {
                    fn from(#value: #ty) -> Self {
                        #input { #field: #value }
                    }
                }
            };
            impl_at(input.span(), from)
        }
        _ => TokenStream::new(),
    }
}
