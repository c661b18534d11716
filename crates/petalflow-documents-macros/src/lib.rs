//! Internal to petalflow: `flow_from!`. Depend on `petalflow-documents`, whose documentation has the macro.

#![allow(
    clippy::too_many_lines,
    reason = "the code in a `quote!` is long and flat"
)]

mod ast;
mod expand;
mod model;

use petalflow_source::Folders;
use proc_macro::TokenStream;

/// See `petalflow_documents::flow_from!`, which adds the path of its crate.
#[doc(hidden)]
#[proc_macro]
pub fn flow_from_impl(input: TokenStream) -> TokenStream {
    match syn::parse::Parser::parse(ast::FlowFrom::parse, input) {
        Ok(Ok(flow)) => {
            let source = flow.path.span().unwrap().local_file();
            let model = model::Model::new(&flow, &Folders::of_macro(source));
            expand::expand(&flow, &model).into()
        }
        Ok(Err(broken)) => expand::broken(&broken).into(),
        Err(error) => error.into_compile_error().into(),
    }
}
