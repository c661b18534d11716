//! The input of code generation, and bounds on the types of keys.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use crate::paths::Runtime;
use crate::state::model::{Key, State};

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

    /// The key's type, underlined as the field's.
    ///
    /// It goes through the newtype: only the structs and one impl repeat the user's tokens, so that a type that does not
    /// exist is one error.
    pub(super) fn ty(&self, key: &Key) -> TokenStream {
        let (runtime, newtype) = (self.runtime, &key.newtype);
        runtime.spot(
            &key.ty,
            quote!(<#newtype as #runtime::__private::Holds>::Value),
        )
    }

    /// What the runtime is told of the state holds where the state can be shared between threads: a key that cannot be is one
    /// error, at its type.
    pub(super) fn shared(&self) -> TokenStream {
        let State {
            ident,
            input,
            update,
            ..
        } = self.state;
        let shared = |ty| {
            let runtime = self.runtime;
            quote!(for<'__a> #ty: #runtime::__private::SharedFor<'__a>)
        };
        let (ident, input, update) = (shared(ident), shared(input), shared(update));
        quote!(#ident, #input, #update)
    }
}

/// `where` each of the keys' types has a trait, without saying that it has: see `petalflow::__private::DebugFor`.
pub(super) fn where_each<'a>(
    cx: &Cx,
    keys: impl Iterator<Item = &'a Key>,
    name: &str,
) -> TokenStream {
    let bounds = each(cx, keys, name);
    quote!(where #bounds)
}

/// The bounds alone.
pub(super) fn each<'a>(cx: &Cx, keys: impl Iterator<Item = &'a Key>, name: &str) -> TokenStream {
    let (runtime, name) = (cx.runtime, Ident::new(name, Span::call_site()));
    let bounds = keys.enumerate().map(|(index, key)| {
        let ty = cx.ty(key);
        quote!(for<'__a> #ty: #runtime::__private::#name<'__a, #index>,)
    });
    bounds.collect()
}

/// The update's own field, beside one per key.
pub(super) fn marks() -> Ident {
    Ident::new("__petalflow_marks", Span::call_site())
}
