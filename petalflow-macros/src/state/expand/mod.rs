//! The code of a state. It cannot fail.
//!
//! Everything that keys and states have in common is generic code in `petalflow::state`. The macro emits what only it knows.

mod cx;
mod input;
mod key;
mod newtype;
mod schema;
mod state;

use proc_macro2::TokenStream;

use self::cx::Cx;
use super::model::State;
use crate::attributes;
use crate::paths::Runtime;
use crate::site::{self, quote};

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
    let check = check_constant(&cx);
    let state_impl = state::state_impl(&cx);
    let schema = schema::schema(&cx);
    let lints = &state.lints;
    let generated = attributes::generated();
    quote! {
        #input
        #(#newtypes)*
        #update
        #lints
        #[allow(unused)]
        #generated
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
    let doc = site::text(&format!("The writes of one node to [`{ident}`]."));
    quote! {
        #[doc = #doc]
        #[allow(dead_code, deprecated, non_camel_case_types, private_interfaces, unreachable_pub, clippy::items_after_statements)]
        #vis type #update = #runtime::state::Update<#ident>;
    }
}

/// The constant that depends on the checks of all keys whose types are not of std, if there are such keys.
fn check_constant(cx: &Cx) -> TokenStream {
    let constant = cx.keys_checked().map(|constant| {
        let keys = cx.state.keys.iter();
        let checks = keys.filter(|key| !key.is_std).map(key::check_constant);
        quote!(const #constant: __pf::usize = #(#checks)+*;)
    });
    constant.unwrap_or_default()
}
