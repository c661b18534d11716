//! The implementations of a newtype, and the default and the reducer of its key.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::cx::{Cx, constant, marks};
use crate::paths::{impl_at, local, local_at, no_generics, with_lifetimes};
use crate::state::model::{BuiltIn, Initial, Key, Reducer, State};
use crate::types;

/// Everything that is emitted for one key in the state's `const` block.
pub(super) fn impls(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let conditional = conditional_impls(cx, key);
    let key_impl = key_impl(cx, index, key);
    let outputs = output_impls(cx, index, key);
    let functions = functions(cx, index, key);
    quote!(#conditional #key_impl #outputs #functions)
}

/// `Clone`, `Debug`, `PartialEq` and `Eq`, if the type has them.
fn conditional_impls(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let newtype = &key.newtype;
    let ty = cx.ty(key);
    let text = newtype.to_string();
    let other = local("other");
    let f = local("f");
    quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::clone::Clone for #newtype where for<'__a> #ty: #runtime::__private::CloneFor<'__a> {
            fn clone(&self) -> Self {
                #newtype(::core::clone::Clone::clone(&self.0))
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::fmt::Debug for #newtype where for<'__a> #ty: #runtime::__private::DebugFor<'__a> {
            fn fmt(&self, #f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #runtime::__private::debug_newtype(#f, #text, &self.0)
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::cmp::PartialEq for #newtype where for<'__a> #ty: #runtime::__private::PartialEqFor<'__a> {
            fn eq(&self, #other: &Self) -> ::core::primitive::bool {
                #runtime::__private::PartialEqFor::same(&self.0, &#other.0)
            }
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl ::core::cmp::Eq for #newtype where for<'__a> #ty: #runtime::__private::EqFor<'__a> {}
    }
}

/// `Key`, and what the state uses of it.
fn key_impl(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let State { ident, update, .. } = cx.state;
    let Key {
        field,
        name,
        ty,
        newtype,
        ..
    } = key;
    let runtime = cx.runtime;
    let held = cx.ty(key);
    let written = with_lifetimes(ty).unwrap_or_else(|| ty.to_token_stream());
    let name_constant = cx.constant(
        "NAME",
        quote!(&'static ::core::primitive::str),
        quote!(#name),
    );
    let bound = cx.where_checked();
    let exclusive = key.exclusive();
    let generics = no_generics(ident);
    let value = local("value");
    let overwrite = local("overwrite");
    let to = local("update");
    let marks = marks();
    let skip = key.flags.skip_zero.as_ref().map(|_| {
        let zero = zero(cx, key);
        quote! {
            if !#overwrite && #zero(&#value) {
                return ::core::result::Result::Ok(());
            }
        }
    });
    quote! {
        impl #newtype {
            #[doc(hidden)]
            fn __push(#value: #held, #overwrite: ::core::primitive::bool, #to: &mut #update) -> ::core::result::Result<(), #runtime::state::WriteError> {
                #skip
                #to.#marks.push(&mut #to.#field, #value, #overwrite, #index, #name, #exclusive)
            }
        }
        impl #generics #runtime::__private::Holds for #newtype {
            type Value = #written;
        }
        #[automatically_derived]
        #[doc(hidden)]
        impl #runtime::node::Key for #newtype #bound {
            type State = #ident;
            type Value = #held;
            #name_constant
            const INDEX: ::core::primitive::usize = #index;
            fn new(#value: #held) -> Self {
                #newtype(#value)
            }
            fn into_value(self) -> #held {
                self.0
            }
            fn get(#value: &#ident) -> &#held {
                &#value.#field
            }
            fn push(#value: #held, #overwrite: ::core::primitive::bool, #to: &mut #update) -> ::core::result::Result<(), #runtime::state::WriteError> {
                #newtype::__push(#value, #overwrite, #to)
            }
        }
    }
}

/// `Output`, for a node that returns the key.
fn output_impls(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let Key {
        field,
        name,
        newtype,
        ..
    } = key;
    let marks = marks();
    let effects = local("effects");
    let exclusive = key.exclusive();
    // A write of zero is ignored.
    let (must, apply) = if key.flags.skip_zero.is_some() {
        (
            quote!(NONE),
            quote!(#runtime::__private::applied(#newtype::__push(self.0, false, &mut #effects.update))),
        )
    } else {
        (
            quote!(of(#index)),
            quote!(#effects.update.#marks.write(&mut #effects.update.#field, self.0, &(#index, #name, #exclusive))),
        )
    };
    // A type of the user that has the name is reported, so a node that returns it is not a second error.
    let like_value = match &key.name_clash {
        Some((ty, _)) if key.named_like_value => {
            output_impl(cx, index, ty, &must, &quote!(::core::unreachable!()))
        }
        _ => TokenStream::new(),
    };
    let output = output_impl(cx, index, newtype, &must, &apply);
    quote!(#output #like_value)
}

/// `Output` for this type. `must`: the keys that it always writes.
fn output_impl(
    cx: &Cx,
    index: usize,
    ty: &Ident,
    must: &TokenStream,
    apply: &TokenStream,
) -> TokenStream {
    let runtime = cx.runtime;
    let ident = &cx.state.ident;
    let effects = local("effects");
    let output = quote! {
        #[automatically_derived]
        #[doc(hidden)]
        impl #runtime::node::Output<#ident> for #ty {
            const MAY_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::of(#index);
            const MUST_WRITE: #runtime::state::KeySet = #runtime::state::KeySet::#must;
            type Routing = ();
            fn apply(self, #effects: &mut #runtime::node::Effects<#ident>) -> ::core::result::Result<(), #runtime::BoxError> {
                #apply
            }
        }
    };
    let output = impl_at(ty.span(), output);
    quote! {
        #output
        #[automatically_derived]
        #[doc(hidden)]
        impl #runtime::node::WriteOutput<#ident> for #ty {}
    }
}

/// A constant that checks, at the field's type, that the state can keep it.
pub(super) fn type_check(cx: &Cx, key: &Key) -> TokenStream {
    if !key.is_complete() {
        return TokenStream::new();
    }
    let runtime = cx.runtime;
    let ty = &key.ty;
    let held = cx.ty(key);
    // Neither is stored.
    let volatile = cx.state.volatile || key.flags.untracked.is_some();
    let name = &key.name;
    let written = types::written(ty);
    let of = quote!(<#runtime::__private::KeyType<__Type>>);
    let call = if !volatile && key.borrows() {
        quote!(#of::borrows(#name, #written))
    } else {
        let serde = |name| {
            let name = Ident::new(name, Span::call_site());
            if volatile {
                quote!(true)
            } else {
                quote!(#of::#name)
            }
        };
        let serialize = serde("SERIALIZE");
        let deserialize = serde("DESERIALIZE");
        quote!(#of::check(#name, #written, #runtime::__private::KeyTraits {
            shared: #of::SHARED, clone: #of::CLONE, serialize: #serialize, deserialize: #deserialize
        }))
    };
    let call = runtime.respan(ty, call);
    let constant = constant(key);
    quote! {
        #[allow(non_upper_case_globals)]
        const #constant: ::core::primitive::usize = {
            #[allow(unused_imports)]
            use #runtime::__private::Lacks as _;
            type __Type = #held;
            #call
        };
    }
}

/// The type of a key, in a form that depends on [`type_check`]: a type that cannot be kept is one error, also if it has no
/// default.
fn checked(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let ty = cx.ty(key);
    if !key.is_complete() {
        return ty;
    }
    let constant = constant(key);
    // The constant keeps its span, so that rustc prints one note that it has failed.
    let begin = runtime.respan(&key.ty, quote!(<#ty as #runtime::__private::Checked<));
    let end = runtime.respan(&key.ty, quote!(>>::Type));
    quote!(#begin #constant #end)
}

/// The functions for the default and the reducer of the key. Each expression of the user occurs once, so that a mistake in it is one
/// error.
fn functions(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let ty = cx.ty(key);
    let trait_check = trait_check(cx, key);
    let default = key.has_default().then(|| {
        let runtime = cx.runtime;
        let default = local_at("default_", index);
        let value = match &key.initial {
            Initial::Expr(value) => value.to_token_stream(),
            // These functions have bounds with their own messages.
            _ if matches!(key.reducer, Reducer::BuiltIn(BuiltIn::First)) => {
                let ty = with_trait(cx, key);
                quote!(<#ty as #runtime::state::reduce::First>::unset())
            }
            _ if key.flags.skip_zero.is_some() => {
                let ty = with_trait(cx, key);
                quote!(<#ty as #runtime::__private::SkipsZero>::zero())
            }
            _ => {
                let ty = checked(cx, key);
                let open = runtime.respan(&key.ty, quote!(<));
                let path = quote!(as #runtime::__private::NeedsDefault>::initial());
                let path = runtime.respan(&key.ty, path);
                quote!(#open #ty #path)
            }
        };
        quote! {
            fn #default() -> #ty {
                #value
            }
        }
    });
    let function = fold(cx, key).map(|fold| {
        let name = local_at("fold_", index);
        let current = local("current");
        let written = local("written");
        let fold = match &key.reducer {
            // A function pointer, so that the parameters of a closure are inferred and rustc reports the expected type.
            Reducer::Custom(_) => quote!(const { let #name: fn(&mut #ty, #ty) = #fold; #name }),
            _ => fold,
        };
        quote! {
            fn #name(#current: &mut #ty, #written: #ty) {
                (#fold)(#current, #written);
            }
        }
    });
    quote!(#trait_check #default #function)
}

/// A trait of the key's type that several functions use: that of its reducer, or that of `skip_zero`.
fn repeated_trait(cx: &Cx, key: &Key) -> Option<TokenStream> {
    let runtime = cx.runtime;
    match key.reducer {
        Reducer::BuiltIn(BuiltIn::First) => Some(quote!(#runtime::state::reduce::First>::unset)),
        Reducer::BuiltIn(BuiltIn::Messages) => {
            Some(quote!(#runtime::state::reduce::Messages>::messages))
        }
        _ if key.flags.skip_zero.is_some() => Some(quote!(#runtime::__private::SkipsZero>::zero)),
        _ => None,
    }
}

/// A constant that fails if the type does not have this trait. All other code names the type as [`with_trait`], so that it is one
/// error.
fn trait_check(cx: &Cx, key: &Key) -> Option<TokenStream> {
    let runtime = cx.runtime;
    let ty = cx.ty(key);
    let function = repeated_trait(cx, key)?;
    let check = runtime.respan(&key.ty, quote!(<#ty as #function));
    let constant = trait_constant(key);
    Some(quote! {
        #[allow(non_upper_case_globals)]
        const #constant: ::core::primitive::usize = {
            let _ = #check;
            0
        };
    })
}

/// The type of a key, in a form that depends on [`trait_check`].
pub(super) fn with_trait(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let ty = cx.ty(key);
    if repeated_trait(cx, key).is_none() {
        return ty;
    }
    let constant = trait_constant(key);
    quote!(<#ty as #runtime::__private::Checked<#constant>>::Type)
}

fn trait_constant(key: &Key) -> Ident {
    format_ident!("__trait_{}", key.name)
}

/// The reducer. `None` for `replace`.
fn fold(cx: &Cx, key: &Key) -> Option<TokenStream> {
    let runtime = cx.runtime;
    match &key.reducer {
        Reducer::Replace => None,
        Reducer::Custom(function) => Some(function.to_token_stream()),
        Reducer::BuiltIn(reducer) => {
            let is_checked = matches!(reducer, BuiltIn::First | BuiltIn::Messages);
            let ty = if is_checked {
                with_trait(cx, key)
            } else {
                cx.ty(key)
            };
            let trait_name = Ident::new(&reducer.trait_name(), Span::call_site());
            let function = Ident::new(&reducer.name(), Span::call_site());
            let fold = quote!(<#ty as #runtime::state::reduce::#trait_name>::#function);
            Some(if is_checked {
                fold
            } else {
                runtime.respan(&key.ty, fold)
            })
        }
    }
}

/// The function that folds a write into the value of the key.
pub(super) fn folding(cx: &Cx, index: usize, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    match key.reducer {
        Reducer::Replace => quote!(#runtime::state::reduce::replace),
        Reducer::Custom(_) | Reducer::BuiltIn(_) => local_at("fold_", index).into_token_stream(),
    }
}

/// The function that compares a value with the zero of a `skip_zero` key.
pub(super) fn zero(cx: &Cx, key: &Key) -> TokenStream {
    let runtime = cx.runtime;
    let ty = with_trait(cx, key);
    quote!(<#ty as #runtime::__private::SkipsZero>::is_zero)
}
