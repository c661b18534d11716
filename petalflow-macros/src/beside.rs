//! A derive for the code beside a generated struct.
//!
//! rustc reports each item that an `impl` block cannot have. If all code comes from a derive of one struct, a macro that is
//! used there by mistake is one error: rustc drops the struct with its derives.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// The attribute of the struct that has the code.
const ATTRIBUTE: &str = "__petalflow_code";

/// The attributes of a struct, so that this code is generated beside it.
pub(crate) fn attributes(krate: impl ToTokens, code: &TokenStream) -> TokenStream {
    quote! {
        #[derive(#krate::__private::Beside)]
        #[__petalflow_code { #code }]
    }
}

/// Expands the derive: the code in the attribute.
pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let codes = item.into_iter().filter_map(|token| match token {
        TokenTree::Group(attribute) => code(attribute.stream()),
        _ => None,
    });
    codes.collect()
}

/// The code, if this is the content of the attribute.
fn code(attribute: TokenStream) -> Option<TokenStream> {
    let mut tokens = attribute.into_iter();
    match (tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(name), TokenTree::Group(code)) if name == ATTRIBUTE => {
            Some(code.stream())
        }
        _ => None,
    }
}
