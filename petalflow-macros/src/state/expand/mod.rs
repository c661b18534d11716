//! The code of a state. It cannot fail.
//!
//! Everything that keys and states have in common is generic code in `petalflow::state`. The macro emits what only it knows.

mod input;
mod key;
mod newtype;
mod schema;
mod state;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::spanned::Spanned as _;

use super::model::{Key, State};
use crate::paths::Runtime;
use crate::spans::with_spans;

/// The input of code generation.
struct Cx<'a> {
    state: &'a State,
    runtime: &'a Runtime,
}

impl<'a> Cx<'a> {
    /// The keys of the input.
    fn inputs(&self) -> Vec<&'a Key> {
        let keys = self.state.keys.iter();
        keys.filter(|key| key.flags.input.is_some()).collect()
    }

    /// The constant that depends on the checks of all keys whose types are not of std, if there are such keys.
    ///
    /// All that requires `Essay: State` depends on it. If a check fails, there is an error in the type or in the bound, and rustc
    /// does not report each use of the state, too.
    fn keys_checked(&self) -> Option<Ident> {
        let key = self.state.keys.iter().find(|key| !key.is_std)?;
        // At the type, where rustc may add a note.
        Some(Ident::new("__KEYS", key.ty.span()))
    }

    fn check_constant(&self) -> TokenStream {
        let constant = self.keys_checked().map(|constant| {
            let keys = self.state.keys.iter();
            let checks = keys.filter(|key| !key.is_std).map(key::check_constant);
            quote!(const #constant: __pf::usize = #(#checks)+*;)
        });
        constant.unwrap_or_default()
    }

    /// A bound that always holds.
    fn bound(&self) -> TokenStream {
        let constant = self.keys_checked();
        let bound = constant.map(|constant| quote!(where (): __pf::Checked<#constant>));
        bound.unwrap_or_default()
    }

    /// The same type.
    fn checked(&self, ty: TokenStream) -> TokenStream {
        match self.keys_checked() {
            Some(constant) => quote!(<#ty as __pf::Checked<#constant>>::Type),
            None => ty,
        }
    }
}

/// The generated items, without the struct itself.
pub(crate) fn state(state: &State, runtime: &Runtime) -> TokenStream {
    let cx = Cx { state, runtime };
    let input = input::item(&cx);
    let newtypes = state.keys.iter().map(|key| newtype::item(&cx, key));
    let update = update(&cx);
    let input_impls = input::impls(&cx);
    let keys = state.keys.iter().enumerate();
    let keys = keys.map(|(index, key)| key::impls(&cx, index, key));
    let slots = state::slots(&cx);
    let check = cx.check_constant();
    let state_impl = state::state_impl(&cx);
    let schema = schema::schema(&cx);
    let lints = &state.lints;
    quote! {
        #input
        #(#newtypes)*
        #update
        #lints
        #[allow(unused, unused_qualifications, unreachable_pub, missing_debug_implementations, clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            use #runtime::__private::state::{self as __pf, Key as _};
            #slots
            #check
            #(#keys)*
            #state_impl
            #input_impls
            #schema
        };
    }
}

/// `EssayUpdate`.
fn update(cx: &Cx) -> TokenStream {
    let State {
        ident, vis, update, ..
    } = cx.state;
    let runtime = cx.runtime;
    let doc = format!("The writes of one node to [`{ident}`].");
    quote! {
        #[doc = #doc]
        #[allow(dead_code, non_camel_case_types, private_interfaces)]
        #vis type #update = #runtime::state::Update<#ident>;
    }
}

/// The identifier at its own place, for a keyword beside it.
fn at(ident: &Ident, tokens: TokenStream) -> TokenStream {
    let span = ident.span();
    with_spans(tokens.into_token_stream(), &|_| span)
}
