//! The input of code generation.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;

use crate::paths::Runtime;
use crate::site::quote;
use crate::spans::with_spans;
use crate::state::model::{Key, State};

/// The input of code generation.
pub(super) struct Cx<'a> {
    pub(super) state: &'a State,
    pub(super) runtime: &'a Runtime,
}

impl<'a> Cx<'a> {
    /// The keys of the input.
    pub(super) fn inputs(&self) -> Vec<&'a Key> {
        let keys = self.state.keys.iter();
        keys.filter(|key| key.flags.input.is_some()).collect()
    }

    /// The constant that depends on the checks of all keys whose types are not of std, if there are such keys.
    ///
    /// All that requires `Essay: State` depends on it. If a check fails, there is an error in the type or in the bound, and rustc
    /// does not report each use of the state, too.
    pub(super) fn keys_checked(&self) -> Option<Ident> {
        let key = self.state.keys.iter().find(|key| !key.is_std)?;
        // At the type, where rustc may add a note.
        Some(Ident::new("__KEYS", key.ty.span()))
    }

    /// A bound that always holds.
    pub(super) fn bound(&self) -> TokenStream {
        let constant = self.keys_checked();
        let bound = constant.map(|constant| quote!(where (): __pf::Checked<#constant>));
        bound.unwrap_or_default()
    }

    /// The same type.
    pub(super) fn checked_type(&self, ty: TokenStream) -> TokenStream {
        match self.keys_checked() {
            Some(constant) => quote!(<#ty as __pf::Checked<#constant>>::Type),
            None => ty,
        }
    }
}

/// The identifier at its own place, for a keyword beside it.
pub(super) fn at(ident: &Ident, tokens: TokenStream) -> TokenStream {
    let span = ident.span();
    with_spans(tokens.into_token_stream(), &|_| span)
}
