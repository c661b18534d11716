//! `#[derive(Route)]`: makes each variant of an enum a route.

mod ast;
mod expand;

use proc_macro2::{Ident, TokenStream};

use self::ast::RouteAst;
use crate::errors::derive;
use crate::paths::Runtime;
use crate::twice::{self, What};

/// Expands `#[derive(Route)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    expand_unless(item, |name| twice::is_second(What::Route, name))
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
        let route = RouteAst::read(item, errors);
        expand::route(&route, &Runtime::new(route.krate.as_ref()))
    })
}
