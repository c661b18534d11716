//! `EssayInput`: the keys that are marked `input`.

use proc_macro2::TokenStream;
use quote::ToTokens as _;

use super::cx::Cx;
use super::newtype::clone_field;
use crate::paths::{impl_at, local, no_generics};
use crate::site::{self, quote};
use crate::state::model::{BuiltIn, Initial, Key, Reducer, State};

pub(super) fn item(cx: &Cx) -> TokenStream {
    let State {
        ident,
        vis,
        input,
        lints,
        ..
    } = cx.state;
    let inputs = cx.inputs();
    let fields = inputs.iter().map(|key| {
        let Key {
            field,
            ty,
            docs,
            deprecated,
            ..
        } = key;
        quote!(#docs #deprecated #vis #field: #ty,)
    });
    let doc = site::text(&format!(
        "The input of a run over [`{ident}`]: the keys marked `input`."
    ));
    let generics = no_generics(ident);
    quote! {
        #[doc = #doc]
        #lints
        #[allow(dead_code, missing_copy_implementations, missing_debug_implementations, missing_docs, non_camel_case_types, private_interfaces, unreachable_pub, clippy::items_after_statements)]
        #vis struct #input #generics {
            #(#fields)*
        }
    }
}

/// The implementations of the input.
pub(super) fn impls(cx: &Cx) -> TokenStream {
    let State { ident, input, .. } = cx.state;
    let inputs = cx.inputs();
    let update = local("update");
    let writes = inputs.iter().map(|key| {
        let (field, newtype) = (&key.field, &key.newtype);
        quote!(__pf::push::<#newtype>(self.#field, #update);)
    });
    let from = from(cx, &inputs);
    let clone = clone(cx, &inputs);
    let debug = debug(cx, &inputs);
    let default = default(cx, &inputs);
    let deserialize = deserialize(cx, &inputs);
    let bound = cx.bound();
    quote! {
        impl __pf::Input<#ident> for #input #bound {
            fn write(self, #update: &mut __pf::Update<#ident>) {
                #(#writes)*
            }
        }
        #from
        #clone
        #debug
        #default
        #deserialize
    }
}

/// A state with one input key converts from its value. A state without input keys converts from `()`.
fn from(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let input = &cx.state.input;
    match inputs {
        [] => quote! {
            impl __pf::From<()> for #input {
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
                impl #generics __pf::From<#ty> for #input {
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

/// `Clone`, which the type of each key has.
fn clone(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let input = &cx.state.input;
    let bound = cx.bound();
    let fields = inputs.iter().map(|key| {
        let field = &key.field;
        let clone = clone_field(key, field);
        quote!(#field: #clone)
    });
    quote! {
        impl __pf::Clone for #input #bound {
            fn clone(&self) -> Self {
                #input { #(#fields),* }
            }
        }
    }
}

/// `Debug`, if the types have it. See `impls` of the newtype.
fn debug(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let input = &cx.state.input;
    let text = site::text(&input.to_string());
    let f = local("f");
    let others = inputs.iter().enumerate().filter(|(_, key)| !key.is_std);
    let bounds = others.map(|(index, key)| {
        let newtype = &key.newtype;
        let index = site::index(index);
        quote!(for<'__a> __pf::Value<#newtype>: __pf::DebugFor<'__a, #index>)
    });
    let bounds = where_clause(bounds);
    let fields = inputs.iter().map(|key| {
        let (field, name) = (&key.field, site::text(&key.name));
        quote!(.field(#name, &&self.#field))
    });
    quote! {
        impl __pf::Debug for #input #bounds {
            fn fmt(&self, #f: &mut __pf::fmt::Formatter<'_>) -> __pf::fmt::Result {
                #f.debug_struct(#text) #(#fields)* .finish()
            }
        }
    }
}

/// `Default`, if the types have it.
fn default(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let input = &cx.state.input;
    let is_explicit = |key: &Key| matches!(key.initial, Initial::Expr(_));
    let needing = inputs
        .iter()
        .enumerate()
        .filter(|(_, key)| !key.is_std && !is_explicit(key));
    let bounds = needing.map(|(index, key)| {
        let newtype = &key.newtype;
        let index = site::index(index);
        quote!(for<'__a> __pf::Value<#newtype>: __pf::DefaultFor<'__a, #index>)
    });
    let bounds = where_clause(bounds);
    let fields = inputs.iter().map(|key| {
        let (field, newtype) = (&key.field, &key.newtype);
        if is_explicit(key) {
            quote!(#field: __pf::explicit::<#newtype>())
        } else {
            quote!(#field: __pf::Default::default())
        }
    });
    quote! {
        impl __pf::Default for #input #bounds {
            fn default() -> Self {
                #input { #(#fields),* }
            }
        }
    }
}

fn where_clause(bounds: impl Iterator<Item = TokenStream>) -> TokenStream {
    let mut bounds = bounds.peekable();
    match bounds.peek() {
        Some(_) => quote!(where #(#bounds),*),
        None => TokenStream::new(),
    }
}

/// `Deserialize`, if the types have it. Without serde's derive, so that users need not depend on serde, and so that a missing
/// key has its initial value.
fn deserialize(cx: &Cx, inputs: &[&Key]) -> TokenStream {
    let State { ident, input, .. } = cx.state;
    let text = site::text(&input.to_string());
    let key = local("key");
    let map = local("map");
    let from = local("from");
    let values = local("values");
    // The others are stored, so they have it.
    let doubtful = inputs
        .iter()
        .filter(|key| !key.is_std && (cx.state.volatile || key.flags.untracked.is_some()));
    let doubtful = doubtful.map(|key| &key.newtype);
    let doubtful = quote!(#(for<'__a> __pf::Value<#doubtful>: __pf::Deserialize<'__a>),*);
    let bound = cx.bound();
    let bounds = if bound.is_empty() {
        TokenStream::new()
    } else {
        quote!(#bound, #doubtful)
    };
    let names = inputs.iter().map(|key| site::text(&key.name));
    let reads = inputs.iter().enumerate().map(|(index, key)| {
        let newtype = &key.newtype;
        let index = site::index(index);
        quote!(#index => __pf::read_key::<#newtype, __A>(#map, #values),)
    });
    let fields = inputs.iter().map(|key| {
        let (field, newtype) = (&key.field, &key.newtype);
        let value = match absent(key) {
            Absent::Error => quote!(__pf::required::<#newtype, __D::Error>(&mut #values)?),
            Absent::Initial => quote!(__pf::or_initial::<#newtype>(&mut #values)),
            Absent::Zero => quote!(__pf::or_default::<#newtype>(&mut #values)),
        };
        quote!(#field: #value)
    });
    quote! {
        impl<'de> __pf::ReadInput<'de, #ident> for #input #bounds {
            fn read_key<__A: __pf::MapAccess<'de>>(#key: __pf::usize, #map: &mut __A, #values: &mut __pf::Update<#ident>) -> __pf::Result<(), __A::Error> {
                match #key {
                    #(#reads)*
                    _ => ::core::unreachable!(),
                }
            }
        }
        impl<'de> __pf::Deserialize<'de> for #input #bounds {
            fn deserialize<__D: __pf::Deserializer<'de>>(#from: __D) -> __pf::Result<Self, __D::Error> {
                let mut #values = __pf::read_input::<#ident, Self, __D>(#from, #text, &[#(#names),*])?;
                __pf::Ok(#input { #(#fields),* })
            }
        }
    }
}

/// The value of a missing key of the input.
enum Absent {
    /// The initial value of the key.
    Initial,
    /// The default of the type. The reducer folds it into the initial value without a change.
    Zero,
    /// A missing key is an error.
    Error,
}

fn absent(key: &Key) -> Absent {
    let explicit = !matches!(key.initial, Initial::Implicit);
    match &key.reducer {
        Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) if explicit => {
            Absent::Initial
        }
        Reducer::Replace | Reducer::BuiltIn(BuiltIn::Min | BuiltIn::Max) | Reducer::Custom(_) => {
            Absent::Error
        }
        Reducer::BuiltIn(BuiltIn::First) => Absent::Initial,
        Reducer::BuiltIn(_) if matches!(key.initial, Initial::Expr(_)) => Absent::Zero,
        // The initial value is the default of the type.
        Reducer::BuiltIn(_) => Absent::Initial,
    }
}
