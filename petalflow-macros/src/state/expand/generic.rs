//! Code in place of a generic state, which is an error. Its keys are types with this error in them, so that nodes and flows over the
//! state are no errors.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{DeriveInput, GenericParam, parse_quote};

use crate::paths::Runtime;
use crate::state::check::GENERIC;
use crate::state::model::State;

/// The struct, whose parameters can be left out, a type per key, and a state that is never used.
pub(crate) fn generic(mut item: DeriveInput, state: &State, runtime: &Runtime) -> TokenStream {
    let State {
        ident, vis, input, ..
    } = state;
    let error = syn::Error::new_spanned(&item.generics, GENERIC).to_compile_error();
    let constant = format_ident!("__{ident}IsGeneric");
    let broken = quote!(<() as #runtime::__private::Checked<#constant>>::Type);
    for param in &mut item.generics.params {
        if let GenericParam::Type(param) = param
            && param.default.is_none()
        {
            param.default = Some((parse_quote!(=), parse_quote!(#broken)));
        }
    }
    let keys = state.keys.iter().map(|key| &key.newtype);
    let (params, arguments, clause) = item.generics.split_for_impl();
    let bounds = clause.map(|clause| clause.predicates.iter());
    let bounds = bounds.into_iter().flatten();
    quote! {
        #item
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        const #constant: ::core::primitive::usize = { #error };
        #(
            #[allow(dead_code)]
            #vis type #keys<__Value = ()> = <__Value as #runtime::__private::Checked<#constant>>::Type;
            #[allow(non_snake_case, dead_code)]
            #vis fn #keys<__Value>(_: __Value) -> #broken {
                ::core::unreachable!()
            }
        )*
        #[allow(dead_code)]
        #vis type #input<__Value = ()> = <__Value as #runtime::__private::Checked<#constant>>::Type;
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            impl #params #runtime::State for #ident #arguments where #(#bounds,)* Self: #runtime::state::ThreadSafe {
                type Input = #broken;
                type Update = #broken;
                type Storage = #broken;
                const NAME: &'static ::core::primitive::str = "";
                const KEYS: &'static [#runtime::state::KeyMeta] = &[];
                fn start(_: Self::Input) -> ::core::result::Result<(Self, #runtime::state::KeySet), #runtime::state::WriteError> {
                    ::core::unreachable!()
                }
                fn input(_: Self::Input) -> Self::Update {
                    ::core::unreachable!()
                }
                fn reset(&mut self, _: #runtime::state::KeySet) {}
                fn commit(&mut self, _: &mut Self::Update, _: #runtime::state::KeySet, _: &mut #runtime::state::KeySet) {}
            }
        };
    }
}
