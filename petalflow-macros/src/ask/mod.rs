//! `#[derive(Ask)]`: makes a question of a struct. A node asks it, and a person answers.

mod ast;
mod expand;

use proc_macro2::TokenStream;

use self::ast::AskAst;
use crate::errors::derive;
use crate::paths::Runtime;

/// Expands `#[derive(Ask)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    derive(item, |item, errors| {
        let ask = AskAst::read(item, errors);
        expand::ask(&ask, errors, &Runtime::new(ask.krate.as_ref()))
    })
}
