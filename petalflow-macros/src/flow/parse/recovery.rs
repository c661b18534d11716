//! Skipping what cannot be parsed.

use proc_macro2::{TokenStream, TokenTree};
use quote::TokenStreamExt as _;
use syn::Token;
use syn::parse::ParseStream;

/// Skips the rest of a statement.
pub(super) fn skip_to_semicolon(input: ParseStream) {
    while !input.is_empty() && !input.peek(Token![;]) {
        let _ = input.parse::<TokenTree>();
    }
}

/// The tokens of a statement.
pub(super) fn up_to_semicolon(input: ParseStream) -> TokenStream {
    let mut tokens = TokenStream::new();
    while !input.is_empty() && !input.peek(Token![;]) {
        if let Ok(token) = input.parse::<TokenTree>() {
            tokens.append(token);
        }
    }
    tokens
}
