//! Gives tokens other spans.

use proc_macro2::{Group, Span, TokenStream, TokenTree};

/// The same tokens with other spans. The function returns the span of each token, also of those within groups.
pub(crate) fn with_spans(tokens: TokenStream, span_of: &dyn Fn(&TokenTree) -> Span) -> TokenStream {
    let spanned = tokens.into_iter().map(|mut token| {
        let span = span_of(&token);
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), with_spans(group.stream(), span_of)).into();
        }
        token.set_span(span);
        token
    });
    spanned.collect()
}
