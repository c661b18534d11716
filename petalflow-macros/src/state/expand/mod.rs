//! The code of a state. It cannot fail.

mod cx;
mod data;
mod generic;
mod items;
mod key;
mod schema;
mod state;
mod update;

use proc_macro2::TokenStream;
use quote::quote;

use self::cx::Cx;
pub(crate) use self::generic::generic;
use super::model::State;
use crate::paths::Runtime;

/// The generated items, without the struct itself.
pub(crate) fn state(state: &State, runtime: &Runtime) -> TokenStream {
    let cx = Cx::new(state, runtime);
    let input = items::input(&cx);
    let newtypes = state.keys.iter().map(|key| items::newtype(&cx, key));
    let update = items::update(&cx);
    let input_impls = items::input_impls(&cx);
    let input_data = data::input(&cx);
    let keys = state
        .keys
        .iter()
        .enumerate()
        .map(|(index, key)| key::impls(&cx, index, key));
    let checks = state.keys.iter().map(|key| key::type_check(&cx, key));
    let checked = cx.all_checked();
    let update_impls = update::impls(&cx);
    let state_impl = state::state_impl(&cx);
    let schema = schema::schema(&cx);
    let lints = &state.lints;
    quote! {
        #input
        #(#newtypes)*
        #update
        #lints
        #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
        const _: () = {
            #(#checks)*
            #checked
            #input_impls
            #input_data
            #(#keys)*
            #update_impls
            #state_impl
            #schema
        };
    }
}
