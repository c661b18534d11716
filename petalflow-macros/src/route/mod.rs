//! `#[derive(Route)]`: an enum as a choice among routes.

mod ast;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;

use self::ast::RouteAst;
use crate::errors::Errors;
use crate::paths::Runtime;

/// Expands `#[derive(Route)] item`.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let code = match syn::parse2(item) {
        Ok(item) => {
            let route = RouteAst::read(item, &mut errors);
            expand::route(&route, &Runtime::new(route.krate.as_ref()))
        }
        Err(error) => {
            errors.push(error);
            TokenStream::new()
        }
    };
    let errors = errors.into_tokens();
    quote!(#code #errors)
}
