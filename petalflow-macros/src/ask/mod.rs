//! `#[derive(Ask)]`: makes a question of a struct. A node asks it, and a person answers.

mod ast;
mod expand;

use proc_macro2::{Ident, TokenStream};

use self::ast::AskAst;
use crate::errors::derive;
use crate::paths::Runtime;
use crate::twice::{self, What};

/// Expands `#[derive(Ask)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    expand_unless(item, |name| twice::is_second(What::Question, name))
}

/// Expands the same for rust-analyzer.
pub(crate) fn in_editor(item: TokenStream) -> TokenStream {
    expand_unless(item, |_| false)
}

/// Expands the item, and generates nothing for a name that `is_second`.
fn expand_unless(item: TokenStream, is_second: fn(&Ident) -> bool) -> TokenStream {
    derive(item, &|item, errors| {
        if is_second(&item.ident) {
            return TokenStream::new();
        }
        let ask = AskAst::read(item, errors);
        expand::ask(&ask, &Runtime::new(ask.krate.as_ref()))
    })
}
