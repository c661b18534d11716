//! `flow_from!`: the type of a flow that a document describes.

mod ast;
mod expand;
mod model;

use petalflow_document_model::source::Folders;
use proc_macro2::TokenStream;

pub(crate) fn flow_from(input: proc_macro::TokenStream) -> TokenStream {
    match syn::parse::Parser::parse(ast::FlowFrom::parse, input) {
        Ok(Ok(flow)) => {
            let source = flow.path.span().unwrap().local_file();
            let model = model::Model::new(&flow, &Folders::of_macro(source));
            expand::expand(&flow, &model)
        }
        Ok(Err(broken)) => expand::broken(&broken),
        Err(error) => error.into_compile_error(),
    }
}
