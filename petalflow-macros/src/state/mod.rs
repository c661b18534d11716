//! `#[state]`: typed keys from the fields of a struct.

mod ast;
mod check;
mod expand;
mod model;
mod nil;

use proc_macro2::TokenStream;
use quote::quote;

use self::ast::{StateArgs, StateAst};
use self::model::State;
use crate::errors::Errors;
use crate::paths::Runtime;

/// Expands `#[state(args)] item`.
pub(crate) fn expand(args: &TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let parsed = StateArgs::parse(args.clone(), &mut errors);
    if ast::has_cfg(item) {
        // A derive sees the fields that `#[cfg]` leaves; an attribute sees them all.
        let runtime = Runtime::new(parsed.krate.as_ref());
        return quote! {
            #[derive(#runtime::__private::StateAfterCfg)]
            #[__petalflow_state(#args)]
            #item
        };
    }
    whole(&parsed, item, errors, true)
}

/// Expands the derive that replaces the attribute if fields are under `#[cfg]`.
pub(crate) fn expand_after_cfg(item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = StateArgs::parse(ast::args_of(item), &mut errors);
    whole(&args, item, errors, false)
}

fn whole(args: &StateArgs, item: &TokenStream, mut errors: Errors, with_item: bool) -> TokenStream {
    let ast = match StateAst::parse(item.clone(), &mut errors) {
        Ok(ast) => ast,
        Err(error) => {
            errors.push(error);
            let errors = errors.into_tokens();
            return quote!(#item #errors);
        }
    };
    let runtime = Runtime::new(args.krate.as_ref());
    let is_state = check::form(&ast, &mut errors);
    let mut state = State::build(&ast, args, &mut errors);
    let item = with_item.then_some(&ast.item);
    let code = is_state.then(|| {
        check::all(&mut state, &mut errors);
        expand::state(&state, &runtime)
    });
    let errors = errors.into_tokens();
    quote!(#item #code #errors)
}
