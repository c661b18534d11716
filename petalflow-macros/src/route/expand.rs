//! The code for a route. It cannot fail.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::Type;

use super::ast::RouteAst;
use crate::editor::elsewhere;
use crate::errors::Errors;
use crate::paths::{Runtime, impl_at, local, name, route_hash};

/// The implementations for the enum. If it has no variants, the code has the errors.
pub(crate) fn route(route: &RouteAst, errors: &mut Errors, runtime: &Runtime) -> TokenStream {
    let RouteAst {
        ident,
        generics,
        lints,
        variants,
        ..
    } = route;
    let (_, type_generics, where_clause) = generics.split_for_impl();
    let parameters = &generics.params;
    let impl_generics = (!parameters.is_empty()).then(|| quote!(<#parameters>));
    let names = names(route, errors);
    let payloads = variants.iter().map(|variant| variant.payload.is_some());
    let carried_types = carried_types(route, runtime);
    let arms = arms(route, runtime);
    let index = index_body(route);
    let payload = payload_body(route, runtime);
    let output = output_impl(route, runtime);
    let payload_items = payload_items(route, runtime);
    quote! {
        #lints
        #[allow(unexpected_cfgs, clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            #arms
            #[automatically_derived]
            #[doc(hidden)]
            impl #impl_generics #runtime::node::Routing for #ident #type_generics #where_clause {
                const NAMES: &'static [&'static ::core::primitive::str] = #names;
                const PAYLOADS: &'static [::core::primitive::bool] = &[#(#payloads),*];
                const ROUTES: ::core::primitive::bool = true;
                #carried_types
            }
            #[automatically_derived]
            impl #impl_generics #runtime::Route for #ident #type_generics #where_clause {
                fn index(&self) -> ::core::primitive::u32 {
                    #index
                }
                fn payload(self) -> ::core::option::Option<#runtime::node::Delivery> {
                    #payload
                }
            }
            #output
            #payload_items
        };
    }
}

/// The names of the variants. Flows check their arms with them, so an arm of a route without variants is no second error.
fn names(route: &RouteAst, errors: &mut Errors) -> TokenStream {
    if route.variants.is_empty() {
        let errors = std::mem::take(errors).into_tokens();
        return quote!({ #errors &[] });
    }
    let names = route.variants.iter().map(|variant| name(&variant.ident));
    quote!(&[#(#names),*])
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
fn carried(route: &RouteAst) -> Vec<(&Ident, &Type)> {
    let variants = route.variants.iter();
    let carried = variants.filter_map(|variant| Some((&variant.ident, variant.payload.as_ref()?)));
    carried.collect()
}

/// The body of `Route::index`.
fn index_body(route: &RouteAst) -> TokenStream {
    if !route.usable {
        return quote!(::core::unreachable!());
    }
    let ident = &route.ident;
    let arms = route.variants.iter().enumerate().map(|(index, variant)| {
        let index = u32::try_from(index).expect("an enum has fewer than 2^32 variants");
        let variant = &variant.ident;
        quote!(#ident::#variant { .. } => #index,)
    });
    quote!(match self { #(#arms)* })
}

/// The body of `Route::payload`.
fn payload_body(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let ident = &route.ident;
    let value = local("value");
    let carried = carried(route);
    if carried.is_empty() {
        return quote!(::core::option::Option::None);
    }
    if !route.usable {
        return quote!(::core::unreachable!());
    }
    let deliveries = carried.iter().map(|(variant, ty)| {
        let deliver = quote!(#runtime::__private::Payload::<#ty>(#value).deliver());
        quote!(#ident::#variant(#value) => ::core::option::Option::Some(#deliver),)
    });
    let rest =
        (carried.len() < route.variants.len()).then(|| quote!(_ => ::core::option::Option::None));
    quote! {
        #[allow(unused_imports)]
        use #runtime::__private::{Deliver as _, NotSent as _};
        match self { #(#deliveries)* #rest }
    }
}

/// `Output`, so that a node can return the enum.
fn output_impl(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let RouteAst {
        ident, generics, ..
    } = route;
    let (_, type_generics, where_clause) = generics.split_for_impl();
    let carried = carried(route);
    let has_payloads = route.usable && !carried.is_empty();
    let impl_generics = match (generics.params.is_empty(), has_payloads) {
        // A type that is not a state is reported at its name.
        (true, false) => quote!(<__S>),
        (true, true) => quote!(<__S: #runtime::State>),
        (false, _) => with_state(route, runtime),
    };
    let bounds = if has_payloads {
        let bounds = carried
            .iter()
            .map(|(_, ty)| quote!(__S::Storage: #runtime::state::CanStore<#ty>,));
        quote!(where #(#bounds)*)
    } else {
        quote!(#where_clause)
    };
    let this = local("this");
    let effects = local("effects");
    let index = local("index");
    let value = local("value");
    let send = (!carried.is_empty()).then(|| {
        quote! {
            if let ::core::option::Option::Some(#value) = #runtime::Route::payload(#this) {
                #effects.send(::core::option::Option::Some(#index), #value);
            }
        }
    });
    let output = quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #impl_generics #runtime::node::Output<__S> for #ident #type_generics #bounds {
            const MAY_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::NONE;
            const MUST_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::NONE;
            type Routing = Self;
            fn apply(self, #effects: &mut #runtime::node::Effects<__S>) -> ::core::result::Result<(), #runtime::BoxError>
            where
                __S: #runtime::State,
            {
                let #this = self;
                let #index = #runtime::Route::index(&#this);
                #effects.choose(#index);
                #send
                ::core::result::Result::Ok(())
            }
        }
    };
    impl_at(ident.span(), output)
}

/// For each payload, its type by the hash of the route, and a check that it can be sent.
fn payload_items(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    if !route.usable {
        return TokenStream::new();
    }
    let ident = &route.ident;
    let carried = carried(route);
    let lookups = carried.iter().map(|(variant, ty)| {
        let hash = route_hash(&name(variant));
        quote! {
            #[automatically_derived]
            #[doc(hidden)]
            impl #runtime::__private::Carries<#hash> for #ident {
                type Payload = #ty;
            }
        }
    });
    let checks = carried.iter().map(|(_, ty)| {
        let sent = runtime.item_of(ty, &quote!(#runtime::__private::Deliverable), "SENT");
        quote!(const _: () = #sent;)
    });
    quote!(#(#lookups)* #(#checks)*)
}

/// The types of the payloads, for graphs that are built at run time. Inline, so that only programs with such graphs compile it.
fn carried_types(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let route_index = local("route");
    if carried(route).is_empty() || !route.usable {
        return TokenStream::new();
    }
    let variants = route.variants.iter().enumerate();
    let arms = variants.filter_map(|(index, variant)| {
        let ty = variant.payload.as_ref()?;
        Some(quote!(#index => #runtime::__private::PayloadType::<#ty>::carried()))
    });
    quote! {
        fn carried(#route_index: ::core::primitive::usize) -> ::core::option::Option<#runtime::__private::Carried> {
            #[allow(unused_imports)]
            use #runtime::__private::OneType as _;
            match #route_index {
                #(#arms,)*
                _ => ::core::option::Option::None,
            }
        }
    }
}

/// The parameters of the enum, lifetimes first, and the state. A generic enum is rejected. This avoids a second error.
fn with_state(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let parameters = route.generics.params.iter();
    let (lifetimes, others): (Vec<_>, Vec<_>) =
        parameters.partition(|parameter| matches!(parameter, syn::GenericParam::Lifetime(_)));
    quote!(<#(#lifetimes,)* __S: #runtime::State, #(#others),*>)
}
