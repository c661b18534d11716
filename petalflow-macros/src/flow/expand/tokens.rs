//! Tokens for several parts of the code: numbers, generated names, and checks at a token of the user.

use petalflow_graph::NodeIdx;
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned as _;

use crate::site::{self, quote};
use crate::spans::with_spans;

/// A number without a suffix, so that its type is inferred.
pub(super) fn number(number: usize) -> Literal {
    site::index(number)
}

pub(super) fn int(number: u32) -> Literal {
    site::literal(Literal::u32_unsuffixed(number))
}

/// `0, 1, 2`.
pub(super) fn ints(numbers: &[u32]) -> TokenStream {
    let numbers = numbers.iter().map(|number| int(*number));
    quote!(#(#numbers),*)
}

/// The same of `NodeIdx` constants.
pub(super) fn node_indices(nodes: &[NodeIdx]) -> TokenStream {
    let nodes = nodes.iter().map(|node| int(node.as_u32()));
    quote!(#(__petalflow::NodeIdx::new(#nodes)),*)
}

/// The name of a generated item: prefix and index.
pub(super) fn numbered(prefix: &str, index: usize) -> Ident {
    format_ident!("{prefix}{index}", span = site::span())
}

/// A constant that checks something. All tokens have the span of the user's token, so that rustc underlines only that.
pub(super) fn check_at(at: &TokenStream, call: TokenStream) -> TokenStream {
    let span = at.span();
    let call = respan(call, span);
    quote_spanned!(span=> const _: () = #call;)
}

/// The tokens, all with this span.
pub(super) fn respan(tokens: TokenStream, span: Span) -> TokenStream {
    with_spans(tokens, &|_| span)
}

/// The head of a function, at this place of the user. Its parameters keep their hygiene, because its body names them.
pub(super) fn head(tokens: TokenStream, span: Span) -> TokenStream {
    with_spans(tokens, &|token| match token {
        TokenTree::Ident(name)
            if name == "self" || name.to_string().starts_with("__") && name != "__petalflow" =>
        {
            name.span()
        }
        _ => span,
    })
}
