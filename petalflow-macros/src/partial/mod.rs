//! `#[derive(Partial)]`: makes the form of a type in which each field may be unknown.

mod ast;
mod case;
mod expand;

use proc_macro2::TokenStream;

use self::ast::PartialAst;
use crate::errors::derive;
use crate::paths::Runtime;

/// Expands `#[derive(Partial)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    derive(item, |item, errors| {
        let partial = PartialAst::read(item, errors);
        expand::partial(&partial, &Runtime::new(partial.krate.as_ref()))
    })
}
