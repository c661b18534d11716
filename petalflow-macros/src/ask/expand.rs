//! The code of a question. It cannot fail.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned as _;

use super::ast::AskAst;
use crate::options::duration_tokens;
use crate::paths::{Runtime, name};

/// `impl Ask for ReviewDraft`.
pub(crate) fn ask(ask: &AskAst, runtime: &Runtime) -> TokenStream {
    let ident = &ask.ident;
    let (impl_generics, type_generics, where_clause) = ask.generics.split_for_impl();
    // A generic question is rejected; this avoids a second error.
    let bounds = (!ask.generics.params.is_empty()).then(|| {
        let before = where_clause.into_iter().flat_map(|clause| &clause.predicates);
        quote!(where #(#before,)* Self: #runtime::__private::Serialize + ::core::marker::Send + ::core::marker::Sync + 'static)
    });
    let answer = ask
        .answer
        .as_ref()
        .map_or_else(|| quote!(()), ToTokens::to_token_stream);
    let text = ask
        .name
        .as_ref()
        .map_or_else(|| name(ident), syn::LitStr::value);
    let key = ask.key.as_ref().map(|key| {
        let value = quote_spanned!(key.span()=> ::std::string::ToString::to_string(&self.#key));
        quote! {
            fn key(&self) -> ::std::string::String {
                #value
            }
        }
    });
    // Without its type, the answer cannot be checked.
    let expiry = ask.expiry.as_ref().filter(|_| ask.answer.is_some());
    let expires = expiry.map(|(after, answer)| {
        let after = duration_tokens(*after);
        quote! {
            fn expires(&self) -> ::core::option::Option<#runtime::interrupt::Expiry<Self::Answer>> {
                ::core::option::Option::Some(#runtime::interrupt::Expiry {
                    after: #after,
                    answer: #answer,
                })
            }
        }
    });
    quote! {
        #[automatically_derived]
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        impl #impl_generics #runtime::interrupt::Ask for #ident #type_generics #bounds {
            type Answer = #answer;
            const NAME: &'static str = #text;
            #key
            #expires
        }
    }
}
