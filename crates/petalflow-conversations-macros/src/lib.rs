//! Internal to petalflow: `conversation!`. Depend on `petalflow-conversations`, whose documentation has the macro.

#![allow(
    clippy::too_many_lines,
    reason = "the code in a `quote!` is long and flat"
)]

mod ast;
mod check;
mod expand;
mod methods;
mod model;
mod names;
mod read;
mod shape;

use petalflow_source::Folders;
use proc_macro::TokenStream;

/// See `petalflow_conversations::conversation!`, which adds the path of its crate.
#[doc(hidden)]
#[proc_macro]
pub fn conversation_impl(input: TokenStream) -> TokenStream {
    match syn::parse::<ast::Input>(input) {
        Ok(input) => {
            let source = input.path.span().unwrap().local_file();
            let document = read::read(&input.path.value(), &Folders::of_macro(source));
            let model = model::Model::new(&document);
            expand::expand(&input, &document, &model).into()
        }
        Err(error) => error.into_compile_error().into(),
    }
}
