//! The input of code generation, and bounds on the types of keys.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned as _;

use crate::paths::Runtime;
use crate::state::model::{Key, State};
use crate::types;

/// The state whose code is generated.
pub(super) struct Cx<'a> {
    pub(super) state: &'a State,
    pub(super) runtime: &'a Runtime,
}

impl Cx<'_> {
    /// The keys of the input, with their indices.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (usize, &Key)> {
        self.state
            .keys
            .iter()
            .enumerate()
            .filter(|(_, key)| key.flags.input.is_some())
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

    /// The constants that check the keys whose types threads may not be able to share.
    fn checks(&self) -> impl Iterator<Item = Ident> {
        let keys = self.state.keys.iter();
        let keys = keys.filter(|key| key.is_complete() && types::may_be_unshared(&key.ty));
        // Types are nested for them, and rustc limits the depth.
        keys.take(32).map(constant)
    }

    /// A type that depends on these constants, as that which the update holds. If a check fails, there is an error in it.
    pub(super) fn all_checked(&self) -> TokenStream {
        let (runtime, update) = (self.runtime, &self.state.update);
        let ty = self.checks().fold(
            quote!(()),
            |ty, check| quote!(<#ty as #runtime::__private::Checked<#check>>::Type),
        );
        let code = quote! {
            impl #runtime::__private::Holds for #update {
                type Value = #ty;
            }
        };
        self.checks().next().map_or_else(TokenStream::new, |_| code)
    }

    /// The type, in a form that depends on that type. If there is an error in it, rustc reports nothing that follows from the key.
    pub(super) fn checked(&self, ty: TokenStream) -> TokenStream {
        let (runtime, update) = (self.runtime, &self.state.update);
        match self.checks().next() {
            Some(_) => {
                quote!(<#ty as #runtime::__private::After<<#update as #runtime::__private::Holds>::Value>>::Type)
            }
            None => ty,
        }
    }

    /// A bound that depends on it. It always holds.
    pub(super) fn where_checked(&self) -> TokenStream {
        let bound = self.checks().next().map(|_| {
            let ty = self.checked(self.state.ident.to_token_stream());
            quote!(where #ty: ::core::marker::Sized)
        });
        bound.unwrap_or_default()
    }

    /// A constant in an implementation with this bound. In such an implementation with an error, rustc cannot compute the size
    /// of a `&str`, so there is an error in the constant too.
    pub(super) fn constant(&self, name: &str, ty: TokenStream, value: TokenStream) -> TokenStream {
        let name = Ident::new(name, Span::call_site());
        let value = match self.checks().next() {
            Some(_) => {
                let checked = self.checked(ty.clone());
                quote!({ let value: #checked = #value; value })
            }
            None => value,
        };
        quote!(const #name: #ty = #value;)
    }
}

/// A `where` clause: the type of each key has a trait. rustc accepts it even if it does not hold, see
/// `petalflow::__private::DebugFor`.
pub(super) fn where_each<'a>(
    cx: &Cx,
    keys: impl Iterator<Item = &'a Key>,
    name: &str,
) -> TokenStream {
    let bounds = each(cx, keys, name);
    quote!(where #bounds)
}

/// The bounds of [`where_each`].
pub(super) fn each<'a>(cx: &Cx, keys: impl Iterator<Item = &'a Key>, name: &str) -> TokenStream {
    let (runtime, name) = (cx.runtime, Ident::new(name, Span::call_site()));
    let bounds = keys.enumerate().map(|(index, key)| {
        let ty = cx.ty(key);
        quote!(for<'__a> #ty: #runtime::__private::#name<'__a, #index>,)
    });
    quote!(#(#bounds)*)
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
