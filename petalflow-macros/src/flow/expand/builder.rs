//! The builder of a flow with node values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use super::cx::{Cx, Value};
use super::tokens::{list, numbered};
use crate::flow::check::is_method;

/// The fields of the flow's type. It stands in a module of its own, where the names of the user's types mean nothing: what it
/// holds is said outside, by `__Holds`.
pub(super) fn fields() -> TokenStream {
    quote!(pub(super) values: <Self as __Holds>::Values)
}

/// The builder's type: it says of each value that must be given whether it was. It stands beside the flow's, in a module of
/// which all is imported: where there are two builders of one name, that is said of the flows alone.
pub(super) fn item(cx: &Cx<'_>, reach: &TokenStream) -> TokenStream {
    let (name, builder) = (cx.name, builder(cx));
    let params = list(cx.values().filter(Value::is_required).map(|value| {
        let given = value.given();
        quote!(const #given: bool)
    }));
    let doc = format!(
        "What to say about a run of [`{name}`] before it begins: its node values, limits, managed values, middleware."
    );
    quote! {
        #[doc(hidden)]
        pub(super) trait __Holds {
            type Values;
        }
        // With a lifetime, so that a bound that does not hold is not an error: the mistake is reported elsewhere.
        #[doc(hidden)]
        pub(super) trait __Launches<'a> {
            type Launch;
        }
        pub(super) mod builder {
            use super::{#name, __Launches};
            #[doc = #doc]
            #[must_use = "nothing runs before `run`"]
            #[allow(unreachable_pub, private_bounds, clippy::redundant_pub_crate)]
            #reach struct #builder<#params>(
                pub(in super::super) <#name as __Launches<'static>>::Launch,
            )
            where
                for<'a> #name: __Launches<'a>;
        }
    }
}

fn builder(cx: &Cx<'_>) -> Ident {
    format_ident!("{}Builder", cx.name)
}

/// The flow's type, then the builder's, by paths that mean them in the flow's own code whatever else has their names, and of
/// which rustdoc shows the last word.
fn paths(cx: &Cx<'_>) -> (TokenStream, TokenStream) {
    let (module, name, builder) = (cx.module(), cx.name, builder(cx));
    (quote!(#module::#name), quote!(#module::builder::#builder))
}

impl Value<'_> {
    fn is_required(&self) -> bool {
        self.default.is_none()
    }

    /// The parameter of the builder that says whether the value was given.
    fn given(&self) -> Ident {
        format_ident!(
            "HAS_{}",
            self.name.unraw().to_string().to_uppercase(),
            span = self.name.span()
        )
    }

    /// The function that makes the default value.
    fn make(&self) -> Ident {
        numbered("__default", self.index)
    }
}

/// `new`, the setters, the methods of a launch, `run`.
pub(super) fn code(cx: &Cx<'_>) -> TokenStream {
    let Cx { krate, state, .. } = cx;
    let (module, (name, builder)) = (cx.module(), paths(cx));
    let values: Vec<Value<'_>> = cx.values().collect();
    let required: Vec<&Value<'_>> = values.iter().filter(|value| value.is_required()).collect();
    let exists = cx.exists();
    let params = list(
        required
            .iter()
            .map(|value| value.given())
            .map(|given| quote!(const #given: bool)),
    );
    let all = list(
        required
            .iter()
            .map(|value| value.given())
            .map(|given| quote!({ #given })),
    );
    let none = list(required.iter().map(|_| quote!(false)));
    // `check` reports a name that is also another method of the builder.
    let setters = values
        .iter()
        .filter(|value| !is_method(value.name))
        .map(|value| setter(cx, value, &required));
    let names: Vec<Ident> = required
        .iter()
        .map(|value| Ident::new_raw(&value.name.unraw().to_string(), Span::call_site()))
        .collect();
    let has = required.iter().zip(&names).map(|(value, marker)| {
        let bits = list(
            others(value, &required)
                .into_iter()
                .map(|given| quote!(const #given: bool)),
        );
        let bit = with_bit(value, &required);
        quote!(impl<#bits> __petalflow::Given<__values::#marker> for #builder<#bit> #exists {})
    });
    let bounds = names
        .iter()
        .map(|marker| quote!(Self: __petalflow::Given<__values::#marker>,))
        .collect::<Vec<_>>();
    let defaults = values.iter().filter_map(|value| {
        let (make, ty, expr) = (value.make(), value.ty, value.default?);
        Some(quote_spanned!(expr.span()=> fn #make() -> #ty { #expr }))
    });
    let fill = values
        .iter()
        .filter(|value| !value.is_required())
        .map(|value| {
            let (field, make) = (value.name, value.make());
            quote! {
                if flow.values.#field.is_none() {
                    flow.values.#field = ::core::option::Option::Some(::std::sync::Arc::new(#make()));
                }
            }
        });
    let fill = quote!(|flow| { let _ = &flow; #(#fill)* });
    let fields: Vec<&Ident> = values.iter().map(|value| value.name).collect();
    let at_once = if required.is_empty() {
        at_once(cx, &values)
    } else {
        not_at_once(cx)
    };
    let types = values.iter().map(|value| value.ty);
    let (text, text_of_builder) = (cx.name.to_string(), self::builder(cx).to_string());
    quote! {
        // `<>`: else rustc would say of an unknown type that this might lack a parameter, and say it apart from the rest.
        struct __Values <> {
            #(#fields: ::core::option::Option<::std::sync::Arc<#types>>,)*
        }
        impl #module::__Holds for #name {
            type Values = __Values;
        }
        impl #module::__Launches<'_> for #name #exists {
            type Launch = #krate::Launch<#name>;
        }
        // Named like the values, because errors name what is missing by these.
        #[allow(non_camel_case_types)]
        mod __values {
            #(pub enum #names {})*
        }
        #(#has)*
        #(#defaults)*
        #[automatically_derived]
        impl ::core::clone::Clone for #name {
            fn clone(&self) -> Self {
                Self { values: __Values { #(#fields: ::core::clone::Clone::clone(&self.values.#fields),)* } }
            }
        }
        #[automatically_derived]
        impl ::core::fmt::Debug for #name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#text).finish_non_exhaustive()
            }
        }
        #[automatically_derived]
        impl<#params> ::core::clone::Clone for #builder<#all> #exists {
            fn clone(&self) -> Self {
                #builder(::core::clone::Clone::clone(&self.0))
            }
        }
        #[automatically_derived]
        impl<#params> ::core::fmt::Debug for #builder<#all> #exists {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_tuple(#text_of_builder).field(&self.0).finish()
            }
        }
        #[allow(private_interfaces, private_bounds)]
        impl #name #exists {
            /// A launch of the flow, to give its node values, set limits, lend managed values, add middleware.
            pub fn new() -> #builder<#none> {
                #builder(#krate::Launch::new(Self { values: __Values { #(#fields: ::core::option::Option::None,)* } }))
            }
        }
        #[allow(private_interfaces, private_bounds)]
        impl<#params> #builder<#all> #exists {
            #(#setters)*

            __petalflow::forward_launch! { #name, #state }

            /// A run from this input: the keys marked `input`, or the bare value where there is one such key.
            pub fn run(self, input: impl ::core::convert::Into<<#state as #krate::State>::Input>) -> #krate::Run<#name> where #(#bounds)* {
                self.0.edit(#fill).run(input)
            }

            /// Makes the runs of the flow threads that a store remembers: `Launch::store` with all node values.
            pub fn store<S>(self, store: &S) -> #krate::thread::Threads<#name>
            where
                #name: __petalflow::KeptBy<S>,
                #(#bounds)*
            {
                __petalflow::KeptBy::threads(self.0.edit(#fill), store)
            }

            /// The launch with all node values in it, for several runs.
            pub fn launch(self) -> #krate::Launch<#name> where #(#bounds)* {
                self.0.edit(#fill)
            }
        }
        #[automatically_derived]
        impl<#params> __petalflow::HasFlow for #builder<#all> #exists {
            type Flow = #name;
            fn flow(&self) -> &#name {
                __petalflow::HasFlow::flow(&self.0)
            }
        }
        #at_once
    }
}

/// A flow of which nothing must be given runs by itself, and can be a node of another.
fn at_once(cx: &Cx<'_>, values: &[Value<'_>]) -> TokenStream {
    let (Cx { krate, state, .. }, name) = (cx, cx.own());
    let fields = values.iter().map(|value| {
        let (field, make) = (value.name, value.make());
        quote!(#field: ::core::option::Option::Some(::std::sync::Arc::new(#make())))
    });
    let exists = cx.exists();
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #name {
            fn default() -> Self {
                Self { values: __Values { #(#fields),* } }
            }
        }
        #[automatically_derived]
        impl __petalflow::Subflow for #name #exists {
            fn fresh() -> Self {
                ::core::default::Default::default()
            }
        }
        impl #name #exists {
            /// Runs the flow from this input with the defaults. [`new`](Self::new) has more to say about the run.
            #[allow(clippy::self_named_constructors)]
            pub fn run(input: impl ::core::convert::Into<<#state as #krate::State>::Input>) -> #krate::Run<Self> {
                Self::new().run(input)
            }
        }
    }
}

/// A flow of which something must be given: `run` on its type exists only to say so.
fn not_at_once(cx: &Cx<'_>) -> TokenStream {
    let (krate, name) = (cx.krate, cx.own());
    let exists = cx.exists();
    quote! {
        #[allow(private_interfaces, private_bounds)]
        impl #name #exists {
            #[doc(hidden)]
            pub fn run<I>(_: I) -> #krate::Run<Self> where Self: __petalflow::RunsAtOnce<I> {
                ::core::unreachable!()
            }
        }
    }
}

fn setter(cx: &Cx<'_>, value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
    let Value { name, ty, .. } = value;
    let (_, builder) = paths(cx);
    let result = if value.is_required() {
        let bits = with_bit(value, required);
        quote!(#builder<#bits>)
    } else {
        quote!(Self)
    };
    let doc = if value.is_required() {
        format!(
            "Gives the node value `{}`, without which the flow cannot run.",
            name.unraw()
        )
    } else {
        format!(
            "Gives the node value `{}` in place of its default.",
            name.unraw()
        )
    };
    quote! {
        #[doc = #doc]
        pub fn #name(self, #name: #ty) -> #result {
            #builder(self.0.edit(|flow| flow.values.#name = ::core::option::Option::Some(::std::sync::Arc::new(#name))))
        }
    }
}

/// The builder's parameters where this value was given and the others may be.
fn with_bit(value: &Value<'_>, required: &[&Value<'_>]) -> TokenStream {
    list(required.iter().map(|other| {
        let given = other.given();
        if other.index == value.index {
            quote!(true)
        } else {
            quote!({ #given })
        }
    }))
}

fn others(value: &Value<'_>, required: &[&Value<'_>]) -> Vec<Ident> {
    required
        .iter()
        .filter(|other| other.index != value.index)
        .map(|other| other.given())
        .collect()
}
