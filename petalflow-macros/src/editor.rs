//! Code for rust-analyzer, which finds the meaning of a token through all tokens of the expansion with its span.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// The tokens with the span of the macro call, so that they are no meaning of a token of the user. `$crate` keeps its span,
/// which is its meaning.
pub(crate) fn elsewhere(tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        match &token {
            TokenTree::Group(group) => {
                token = Group::new(group.delimiter(), elsewhere(group.stream())).into();
            }
            TokenTree::Ident(ident) if ident == "$crate" => return token,
            _ => {}
        }
        token.set_span(Span::call_site());
        token
    });
    tokens.collect()
}
