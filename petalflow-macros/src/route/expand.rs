//! The code for a route. It cannot fail.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::ToTokens as _;
use syn::Type;

use super::ast::RouteAst;
use crate::attributes;
use crate::editor::elsewhere;
use crate::paths::{Runtime, impl_at, local, name, route_hash};
use crate::site::{self, quote};

/// The implementations for the enum.
pub(crate) fn route(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let RouteAst {
        ident,
        lints,
        variants,
        ..
    } = route;
    let names = variants
        .iter()
        .map(|variant| site::text(&name(&variant.ident)));
    let payloads = variants
        .iter()
        .map(|variant| site::flag(variant.payload.is_some()));
    let indices = variants.iter().enumerate().map(|(index, variant)| {
        let (index, variant) = (site::index(index), &variant.ident);
        quote!(#ident::#variant { .. } => #index,)
    });
    let carried = variants_with_payload(route);
    let arms = arms(route, runtime);
    let payload_types = payload_types(route);
    let payload = payload(ident, &carried);
    let lookups = lookups(ident, &carried, runtime);
    let bounds = carried
        .iter()
        .map(|(_, ty)| quote!(AnyState::Storage: __pf::CanStore<#ty>,));
    let state = (!carried.is_empty()).then(|| quote!(: __pf::State));
    let effects = local("effects");
    let output = quote! {
        impl<AnyState #state> __pf::Output<AnyState> for #ident where #(#bounds)* {
            const MAY_WRITE: __pf::KeySet = __pf::KeySet::NONE;
            const MUST_WRITE: __pf::KeySet = __pf::KeySet::NONE;
            type Routing = Self;
            fn apply(self, #effects: &mut __pf::Effects<AnyState>) -> __pf::Result<(), __pf::BoxError>
            where
                AnyState: __pf::State,
            {
                __pf::choose(self, #effects)
            }
        }
    };
    let generated = attributes::generated();
    // Where rustc lists what a node can return, it shows the name of the enum.
    let output = impl_at(ident.span(), output);
    quote! {
        #lints
        #[allow(unexpected_cfgs, unused)]
        #generated
        const _: () = {
            use #runtime::__private::route as __pf;
            #arms
            impl __pf::Routing for #ident {
                const NAMES: &'static [&'static __pf::str] = &[#(#names),*];
                const PAYLOADS: &'static [__pf::bool] = &[#(#payloads),*];
                const ROUTES: __pf::bool = true;
                #payload_types
            }
            impl __pf::Route for #ident {
                fn index(&self) -> __pf::u32 {
                    match self { #(#indices)* }
                }
                #payload
            }
            #output
            #lookups
        };
    }
}

/// For rust-analyzer, a struct with a field for each variant, at its name: it completes the arms in a flow as fields.
fn arms(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let ident = elsewhere(route.ident.to_token_stream());
    let fields = route.variants.iter().map(|variant| &variant.ident);
    quote! {
        #[cfg(rust_analyzer)]
        #[allow(non_snake_case)]
        const _: () = {
            #[allow(non_snake_case)]
            pub struct Arms { #(#[allow(non_snake_case)] pub #fields: (),)* }
            impl #runtime::__private::editor::Arms for #ident {
                type Arms = Arms;
            }
        };
    }
}

/// The variants with a payload, and its type.
fn variants_with_payload(route: &RouteAst) -> Vec<(&Ident, &Type)> {
    let variants = route.variants.iter();
    let carried = variants.filter_map(|variant| Some((&variant.ident, variant.payload.as_ref()?)));
    carried.collect()
}

/// `Route::payload`, if a variant has one.
fn payload(ident: &Ident, carried: &[(&Ident, &Type)]) -> TokenStream {
    if carried.is_empty() {
        return TokenStream::new();
    }
    let value = local("value");
    let deliveries = carried.iter().map(|(variant, ty)| {
        quote!(#ident::#variant(#value) => __pf::Some(__pf::Payload::<#ty>(#value).deliver()),)
    });
    quote! {
        fn payload(self) -> __pf::Option<__pf::Delivery> {
            use __pf::{Deliver as _, NotSent as _};
            match self {
                #(#deliveries)*
                _ => __pf::None,
            }
        }
    }
}

/// The types of the payloads, for graphs that are built at run time.
fn payload_types(route: &RouteAst) -> TokenStream {
    if variants_with_payload(route).is_empty() {
        return TokenStream::new();
    }
    let index = local("route");
    let variants = route.variants.iter().enumerate();
    let types = variants.filter_map(|(index, variant)| {
        let (index, ty) = (site::index(index), variant.payload.as_ref()?);
        Some(quote!(#index => __pf::PayloadType::<#ty>::carried(),))
    });
    quote! {
        fn carried(#index: __pf::usize) -> __pf::Option<__pf::Carried> {
            use __pf::OneType as _;
            match #index {
                #(#types)*
                _ => __pf::None,
            }
        }
    }
}

/// For each payload, its type by the hash of the route, and a check that it can be sent.
fn lookups(ident: &Ident, carried: &[(&Ident, &Type)], runtime: &Runtime) -> TokenStream {
    let lookups = carried.iter().map(|(variant, ty)| {
        let hash = site::literal(Literal::u64_suffixed(route_hash(&name(variant))));
        let sent = runtime.item_of(ty, &quote!(__pf::Deliverable), "SENT");
        quote! {
            impl __pf::Carries<#hash> for #ident {
                type Payload = #ty;
            }
            const _: () = #sent;
        }
    });
    quote!(#(#lookups)*)
}
