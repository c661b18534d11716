//! `#[derive(Ask)]`: a struct as a question that a node asks a person.

mod ast;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;

use self::ast::AskAst;
use crate::errors::Errors;
use crate::paths::Runtime;

/// Expands `#[derive(Ask)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let code = match syn::parse2(item) {
        Ok(item) => {
            let ask = AskAst::read(item, &mut errors);
            expand::ask(&ask, &Runtime::new(ask.krate.as_ref()))
        }
        Err(error) => {
            errors.push(error);
            TokenStream::new()
        }
    };
    let errors = errors.into_tokens();
    quote!(#code #errors)
}
