//! `conversation!`: the type of a conversation, and a trait with its functions.

mod ast;
mod check;
mod expand;
mod methods;
mod model;
mod names;
mod read;
mod shape;

use petalflow_document_model::source::Folders;
use proc_macro2::TokenStream;

pub(crate) use ast::Input;

pub(crate) fn conversation(input: &Input) -> TokenStream {
    let source = input.path.span().unwrap().local_file();
    let document = read::read(&input.path.value(), &Folders::of_macro(source));
    let model = model::Model::new(&document);
    expand::expand(input, &document, &model)
}
