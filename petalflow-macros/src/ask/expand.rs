//! The code of a question. It cannot fail.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote_spanned};
use syn::Type;
use syn::spanned::Spanned as _;

use super::ast::AskAst;
use crate::attributes;
use crate::errors::Errors;
use crate::options::duration_tokens;
use crate::paths::{Runtime, impl_at, name};
use crate::site::{self, quote};
use crate::types::{self, may_be_unshared};

/// `impl Ask for ReviewDraft`. If the type of the answer is missing, the code has the errors.
pub(crate) fn ask(ask: &AskAst, errors: &mut Errors, runtime: &Runtime) -> TokenStream {
    let ident = &ask.ident;
    let lints = &ask.lints;
    let (impl_generics, type_generics, where_clause) = ask.generics.split_for_impl();
    // A generic question is rejected; this avoids a second error.
    let bounds = (!ask.generics.params.is_empty()).then(|| {
        let before = where_clause.map(|clause| &clause.predicates);
        let comma = before.is_some_and(|before| !before.empty_or_trailing());
        let comma = comma.then(|| quote!(,));
        quote!(where #before #comma Self: #runtime::__private::Question)
    });
    let (check, answer) = match &ask.answer {
        // In place of a bound, which would be an error for each direction.
        Some(ty) if may_be_unshared(ty) => checked_answer(ty, runtime),
        Some(ty) => (TokenStream::new(), ty.to_token_stream()),
        None => unknown(std::mem::take(errors), runtime),
    };
    let text = ask
        .name
        .as_ref()
        .map_or_else(|| name(ident), syn::LitStr::value);
    let text = site::text(&text);
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
    let generated = attributes::generated();
    let implementation = quote! {
        #[automatically_derived]
        #lints
        #generated
        impl #impl_generics #runtime::interrupt::Ask for #ident #type_generics #bounds {
            type Answer = #answer;
            const NAME: &'static ::core::primitive::str = #text;
            #key
            #expires
        }
    };
    // An error that lists the questions of a program shows the name of this one.
    let implementation = impl_at(ident.span(), implementation);
    if check.is_empty() {
        return implementation;
    }
    quote!(const _: () = { #check #implementation };)
}

/// A constant with the errors, and a type that depends on it, so that no use of the answer is a second error.
fn unknown(errors: Errors, runtime: &Runtime) -> (TokenStream, TokenStream) {
    let errors = errors.into_tokens();
    let check = quote! {
        const ANSWER: ::core::primitive::usize = {
            #errors
            0
        };
    };
    let answer = quote!(<() as #runtime::__private::Checked<ANSWER>>::Type);
    (check, answer)
}

/// A constant that checks that answers of the type can be stored, and the type in a form that depends on it.
fn checked_answer(ty: &Type, runtime: &Runtime) -> (TokenStream, TokenStream) {
    let written = types::text_of(ty);
    let of = quote!(<#runtime::__private::KeyType<__Answer>>);
    let call = runtime.respan(
        ty,
        quote!(#of::answer(#written, #of::SERIALIZE, #of::DESERIALIZE)),
    );
    let check = quote! {
        type __Answer = #ty;
        const ANSWER: ::core::primitive::usize = {
            #[allow(unused_imports)]
            use #runtime::__private::Lacks as _;
            #call
        };
    };
    let answer = runtime.respan(
        ty,
        quote!(<__Answer as #runtime::__private::Checked<ANSWER>>::Type),
    );
    (check, answer)
}
