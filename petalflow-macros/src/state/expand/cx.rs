//! The input of code generation, and bounds on the types of keys.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned as _;

use crate::paths::{Runtime, local};
use crate::state::model::{Key, State};
use crate::types;

/// The state whose code is generated.
pub(super) struct Cx<'a> {
    pub(super) state: &'a State,
    pub(super) runtime: &'a Runtime,
    /// The constants that check the keys whose types threads may not be able to share.
    checks: Vec<Ident>,
}

impl<'a> Cx<'a> {
    pub(super) fn new(state: &'a State, runtime: &'a Runtime) -> Self {
        let keys = state.keys.iter();
        let doubtful = keys.filter(|key| key.is_complete() && types::may_be_unshared(&key.ty));
        Cx {
            state,
            runtime,
            // Types are nested for them, and rustc limits the depth.
            checks: doubtful.take(32).map(constant).collect(),
        }
    }

    /// The keys for which this holds.
    pub(super) fn keys(&self, is: impl Fn(&Key) -> bool) -> Vec<&'a Key> {
        self.state.keys.iter().filter(|key| is(key)).collect()
    }

    /// The keys of the input, with their indices.
    pub(super) fn inputs(&self) -> Vec<(usize, &'a Key)> {
        let keys = self.state.keys.iter().enumerate();
        keys.filter(|(_, key)| key.flags.input.is_some()).collect()
    }

    /// The type of a key, with the span of the field's type.
    ///
    /// It is an associated type of the newtype. Only the structs and one impl repeat the tokens of the user, so that a type that
    /// does not exist is one error.
    pub(super) fn ty(&self, key: &Key) -> TokenStream {
        let (runtime, newtype) = (self.runtime, &key.newtype);
        runtime.respan(
            &key.ty,
            quote!(<#newtype as #runtime::__private::Holds>::Value),
        )
    }

    /// A type that depends on these constants, as that which the update holds. If a check fails, there is an error in it.
    pub(super) fn all_checked(&self) -> TokenStream {
        if self.checks.is_empty() {
            return TokenStream::new();
        }
        let (runtime, update) = (self.runtime, &self.state.update);
        let mut ty = quote!(());
        for check in &self.checks {
            ty = quote!(<#ty as #runtime::__private::Checked<#check>>::Type);
        }
        quote! {
            impl #runtime::__private::Holds for #update {
                type Value = #ty;
            }
        }
    }

    /// The type, in a form that depends on that type. If there is an error in it, rustc reports nothing that follows from the key.
    pub(super) fn checked(&self, ty: TokenStream) -> TokenStream {
        if self.checks.is_empty() {
            return ty;
        }
        let (runtime, update) = (self.runtime, &self.state.update);
        quote!(<#ty as #runtime::__private::After<<#update as #runtime::__private::Holds>::Value>>::Type)
    }

    /// A bound that depends on it. It always holds.
    pub(super) fn where_checked(&self) -> TokenStream {
        if self.checks.is_empty() {
            return TokenStream::new();
        }
        let ty = self.checked(self.state.ident.to_token_stream());
        quote!(where #ty: ::core::marker::Sized)
    }

    /// A constant in an implementation with this bound. In such an implementation with an error, rustc cannot compute the size
    /// of a `&str`, so there is an error in the constant too.
    pub(super) fn constant(&self, name: &str, ty: TokenStream, value: TokenStream) -> TokenStream {
        let name = Ident::new(name, Span::call_site());
        if self.checks.is_empty() {
            return quote!(const #name: #ty = #value;);
        }
        let checked = self.checked(ty.clone());
        let local = local("value");
        quote!(const #name: #ty = { let #local: #checked = #value; #local };)
    }
}

/// A `where` clause: the type of each key has a trait. rustc accepts it even if it does not hold, see
/// `petalflow::__private::DebugFor`.
pub(super) fn where_each(cx: &Cx, keys: &[&Key], name: &str) -> TokenStream {
    let bounds = bounds(cx, keys, name);
    quote!(where #bounds)
}

/// The bounds of [`where_each`].
pub(super) fn bounds(cx: &Cx, keys: &[&Key], name: &str) -> TokenStream {
    let runtime = cx.runtime;
    let name = Ident::new(name, Span::call_site());
    let bounds = keys.iter().enumerate().map(|(index, key)| {
        let ty = cx.ty(key);
        quote!(for<'__a> #ty: #runtime::__private::#name<'__a, #index>,)
    });
    bounds.collect()
}

/// The field of the update that has the set of written keys.
pub(super) fn marks() -> Ident {
    Ident::new("__petalflow_marks", Span::call_site())
}

/// The name of this constant, which rustc prints.
pub(super) fn constant(key: &Key) -> Ident {
    // With the span of the type, where rustc may add a note.
    format_ident!("__{}", key.name, span = key.ty.span())
}

/// `("topic", &self.topic)`: a key for debug text.
pub(super) fn shown(key: &Key) -> TokenStream {
    let (name, field) = (&key.name, &key.field);
    quote!((#name, &self.#field))
}
