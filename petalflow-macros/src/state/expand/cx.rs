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

    /// The bounds of the generated impls: state, input and update can be shared between threads. A key that cannot be shared is one
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
        // A key of a type with its own check makes the state a type without values, so there is nothing else to report.
        if self.state.keys.iter().any(|key| key.check.is_some()) {
            return TokenStream::new();
        }
        let (ident, input, update) = (shared(ident), shared(input), shared(update));
        quote!(#ident, #input, #update,)
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
    bounds.collect()
}

/// The field of the update that has the set of written keys.
pub(super) fn marks() -> Ident {
    Ident::new("__petalflow_marks", Span::call_site())
}
