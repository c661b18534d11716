//! The code for a route. It cannot fail.

use proc_macro2::TokenStream;
use quote::quote;

use super::ast::RouteAst;
use crate::paths::{Runtime, local, name, route_hash};

/// The implementations for the enum.
pub(crate) fn route(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let RouteAst {
        ident,
        generics,
        variants,
        usable,
        ..
    } = route;
    let (_, type_generics, where_clause) = generics.split_for_impl();
    let parameters = &generics.params;
    let impl_generics = (!parameters.is_empty()).then(|| quote!(<#parameters>));
    let has_payloads = *usable && variants.iter().any(|variant| variant.payload.is_some());
    let impl_with_state = match (parameters.is_empty(), has_payloads) {
        // A type that is not a state is reported at its name.
        (true, false) => quote!(<__S>),
        (true, true) => quote!(<__S: #runtime::State>),
        (false, _) => with_state(route, runtime),
    };
    let names = variants.iter().map(|variant| name(&variant.ident));
    let payloads = variants.iter().map(|variant| variant.payload.is_some());
    let (this, effects, index, value) = (
        local("this"),
        local("effects"),
        local("index"),
        local("value"),
    );
    let carried: Vec<_> = variants
        .iter()
        .filter_map(|variant| Some((&variant.ident, variant.payload.as_ref()?)))
        .collect();
    let types = carried.iter().map(|(_, ty)| ty);
    let carried_types = route_types(route, runtime);
    let look_up = carried.iter().filter(|_| *usable).map(|(variant, ty)| {
        let hash = route_hash(&name(variant));
        quote! {
            #[automatically_derived]
            impl #runtime::__private::Carries<#hash> for #ident {
                type Payload = #ty;
            }
        }
    });
    let indices = variants.iter().enumerate().map(|(index, variant)| {
        let (variant, index) = (&variant.ident, u32::try_from(index).unwrap_or(u32::MAX));
        quote!(#ident::#variant { .. } => #index)
    });
    let index_body = if *usable {
        quote!(match self { #(#indices,)* })
    } else {
        quote!(::core::unreachable!())
    };
    let deliveries = carried.iter().map(|(variant, ty)| {
        let deliver = quote!(#runtime::__private::Payload::<#ty>(#value).deliver());
        quote!(#ident::#variant(#value) => ::core::option::Option::Some(#deliver))
    });
    let checks = carried.iter().map(|(_, ty)| {
        let sent = runtime.respan(ty, quote!(as #runtime::__private::Sent>::SENT));
        let open = runtime.respan(ty, quote!(<));
        quote!(const _: () = #open #ty #sent;)
    });
    let checks = usable.then(|| quote!(#(#checks)*));
    let rest = (carried.len() < variants.len()).then(|| quote!(_ => ::core::option::Option::None));
    let payload_body = match (carried.is_empty(), *usable) {
        (true, _) => quote!(::core::option::Option::None),
        (false, false) => quote!(::core::unreachable!()),
        (false, true) => quote! {
            #[allow(unused_imports)]
            use #runtime::__private::{Deliver as _, NotSent as _};
            match self { #(#deliveries,)* #rest }
        },
    };
    let send = (!carried.is_empty()).then(|| {
        quote! {
            if let ::core::option::Option::Some(#value) = #runtime::Route::payload(#this) {
                #effects.send(::core::option::Option::Some(#index), #value);
            }
        }
    });
    let storage_bounds = if has_payloads {
        quote!(where #(__S::Storage: #runtime::state::CanStore<#types>,)*)
    } else {
        quote!(#where_clause)
    };
    quote! {
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            #[automatically_derived]
            impl #impl_generics #runtime::node::Routing for #ident #type_generics #where_clause {
                const NAMES: &'static [&'static str] = &[#(#names),*];
                const PAYLOADS: &'static [bool] = &[#(#payloads),*];
                const ROUTES: bool = true;
                #carried_types
            }
            #[automatically_derived]
            impl #impl_generics #runtime::Route for #ident #type_generics #where_clause {
                #[inline]
                fn index(&self) -> u32 {
                    #index_body
                }
                fn payload(self) -> ::core::option::Option<#runtime::node::Delivery> {
                    #payload_body
                }
            }
            #[automatically_derived]
            impl #impl_with_state #runtime::node::Output<__S> for #ident #type_generics #storage_bounds {
                const MAY_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::NONE;
                const MUST_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::NONE;
                type Routing = Self;
                #[inline]
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
            #(#look_up)*
            #checks
        };
    }
}

/// The types of the payloads, for graphs that are built at run time. Inline, so that only programs with such graphs compile it.
fn route_types(route: &RouteAst, runtime: &Runtime) -> TokenStream {
    let route_index = local("route");
    let arms: Vec<_> = route
        .variants
        .iter()
        .enumerate()
        .filter_map(|(index, variant)| {
            let ty = variant.payload.as_ref()?;
            Some(quote!(#index => #runtime::__private::PayloadType::<#ty>::carried()))
        })
        .collect();
    if arms.is_empty() || !route.usable {
        return TokenStream::new();
    }
    quote! {
        #[inline]
        fn carried(#route_index: usize) -> ::core::option::Option<#runtime::__private::Carried> {
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
