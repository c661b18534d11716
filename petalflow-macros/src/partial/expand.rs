//! The code of a partial form. It cannot fail.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;

use super::ast::{FieldSource, PartialAst, PartialField};
use crate::attributes;
use crate::paths::{Runtime, derived, impl_at, name};
use crate::site::{self, quote};

/// `struct RecipePartial` and `impl Partial for Recipe`.
pub(crate) fn partial(partial: &PartialAst, runtime: &Runtime) -> TokenStream {
    match &partial.fields {
        Some(fields) => in_fields(partial, fields, runtime),
        None => whole(partial, runtime),
    }
}

/// A type that is known as a whole.
fn whole(partial: &PartialAst, runtime: &Runtime) -> TokenStream {
    let PartialAst { ident, lints, .. } = partial;
    let (impl_generics, type_generics, where_clause) = partial.generics.split_for_impl();
    // The bounds of a generic type are those of its `Deserialize`.
    let bounds = (!partial.generics.params.is_empty()).then(|| {
        let before = where_clause.map(|clause| &clause.predicates);
        let comma = before.is_some_and(|before| !before.empty_or_trailing());
        let comma = comma.then(|| quote!(,));
        quote!(where #before #comma Self: #runtime::__private::tool::DeserializeOwned)
    });
    let generated = attributes::generated();
    let implementation = quote! {
        #[automatically_derived]
        #lints
        #generated
        impl #impl_generics #runtime::tool::Partial for #ident #type_generics #bounds {
            type Partial = Self;
            fn partial(
                value: &#runtime::__private::tool::Value,
            ) -> ::core::option::Option<Self> {
                #runtime::tool::whole(value)
            }
        }
    };
    impl_at(ident.span(), implementation)
}

fn in_fields(partial: &PartialAst, fields: &[PartialField], runtime: &Runtime) -> TokenStream {
    let PartialAst {
        ident,
        visibility,
        lints,
        derives,
        ..
    } = partial;
    let form = derived(&format!("{}Partial", name(ident)), ident);
    let doc = site::text(&format!(" [`{}`] as far as it is known.", name(ident)));
    let declared = fields.iter().map(|field| {
        let PartialField {
            ident,
            visibility,
            docs,
            ..
        } = field;
        let ty = type_of(field, runtime);
        quote!(#docs #visibility #ident: ::core::option::Option<#ty>,)
    });
    let fields_of = Ident::new("fields", site::span());
    let value = Ident::new("value", site::span());
    let read = fields.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        let read = if field.whole {
            quote!(#runtime::tool::whole::<#ty>)
        } else {
            runtime.respan(ty, quote!(<#ty as #runtime::tool::Partial>::partial))
        };
        let value = match &field.source {
            FieldSource::Named(name) => {
                let name = site::text(name);
                quote!(#fields_of.get(#name).and_then(#read))
            }
            FieldSource::Flattened => quote!(#read(#value)),
        };
        quote!(#ident: #value,)
    });
    let generated = attributes::generated();
    let implementation = quote! {
        #[automatically_derived]
        #lints
        #generated
        impl #runtime::tool::Partial for #ident {
            type Partial = #form;
            fn partial(
                #value: &#runtime::__private::tool::Value,
            ) -> ::core::option::Option<#form> {
                let #fields_of = #value.as_object()?;
                ::core::option::Option::Some(#form { #(#read)* })
            }
        }
    };
    let implementation = impl_at(ident.span(), implementation);
    quote! {
        #[doc = #doc]
        #[derive(::core::fmt::Debug, ::core::default::Default, #derives)]
        #lints
        #[allow(dead_code)]
        #generated
        #visibility struct #form {
            #(#declared)*
        }
        #implementation
    }
}

/// The type of what is known of a field.
fn type_of(field: &PartialField, runtime: &Runtime) -> TokenStream {
    let ty = &field.ty;
    if field.whole {
        return ty.to_token_stream();
    }
    runtime.respan(ty, quote!(<#ty as #runtime::tool::Partial>::Partial))
}
