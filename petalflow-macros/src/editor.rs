//! Code for rust-analyzer, which finds the meaning of a token through all tokens of the expansion with its span.

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::spans::with_spans;

/// The tokens with the span of the macro call, so that an editor does not find them at a token of the user. `$crate` keeps its
/// span, because rustc finds the crate by it.
pub(crate) fn elsewhere(tokens: TokenStream) -> TokenStream {
    with_spans(tokens, &|token| match token {
        TokenTree::Ident(ident) if ident == "$crate" => ident.span(),
        _ => Span::call_site(),
    })
}
