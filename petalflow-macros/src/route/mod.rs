//! `#[derive(Route)]`: makes each variant of an enum a route.

mod ast;
mod expand;

use proc_macro2::TokenStream;

use self::ast::RouteAst;
use crate::errors::derive;
use crate::paths::Runtime;

/// Expands `#[derive(Route)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    derive(item, |item, errors| {
        let route = RouteAst::read(item, errors);
        if route.usable {
            expand::route(&route, &Runtime::new(route.krate.as_ref()))
        } else {
            TokenStream::new()
        }
    })
}
