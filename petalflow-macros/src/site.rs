//! The place of generated code: the name of the item that the user wrote.
//!
//! rustc remembers what it knows of each item between two builds. To see whether an item changed, it hashes the item with its
//! spans. The span of `Span::call_site()`, if a macro is called outside of functions, is hashed with its distance to the start
//! of the module. So a longer line changes the code of each macro call behind it, and rustc checks that code again. A span of
//! the user has no such distance: `docs/decisions/0384-generated-code-has-spans-of-the-user.md` has the figures.
//!
//! So code is generated with the `quote!` of this module, and names with [`span`]. Code for rust-analyzer has no place, nor has that
//! of `#[tool]`: there, [`span`] is `Span::call_site()`.

use std::cell::Cell;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};

thread_local! {
    static SITE: Cell<Option<Span>> = const { Cell::new(None) };
}

/// Expands an item at its name.
pub(crate) fn at_item(
    item: TokenStream,
    expand: impl FnOnce(TokenStream) -> TokenStream,
) -> TokenStream {
    match name(&item) {
        Some(name) => at(name, || expand(item)),
        None => expand(item),
    }
}

/// The span of the name behind the keyword of the item, or of the keyword `impl`.
fn name(item: &TokenStream) -> Option<Span> {
    let mut words = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    let keyword = words.find(|word| {
        ["fn", "struct", "enum", "union", "impl"]
            .iter()
            .any(|it| word == it)
    })?;
    if keyword == "impl" {
        return Some(keyword.span());
    }
    Some(words.next()?.span())
}

/// Generates code at this place.
pub(crate) fn at(place: Span, generate: impl FnOnce() -> TokenStream) -> TokenStream {
    let outer = SITE.replace(Some(place));
    let code = generate();
    SITE.set(outer);
    code
}

/// The span of generated code.
pub(crate) fn span() -> Span {
    SITE.get().unwrap_or_else(Span::call_site)
}

/// The keyword or the name of a generated item that names types of the user, at the macro call: for an unknown type, rustc would
/// suggest a type parameter of this item, at the name of the user's.
pub(crate) fn without_suggestion(word: &str) -> Ident {
    Ident::new(word, Span::call_site())
}

/// A literal in generated code.
pub(crate) fn literal(mut literal: Literal) -> Literal {
    literal.set_span(span());
    literal
}

/// A text in generated code.
pub(crate) fn text(text: &str) -> Literal {
    literal(Literal::string(text))
}

/// `true` or `false` in generated code.
pub(crate) fn flag(is_set: bool) -> Ident {
    Ident::new(if is_set { "true" } else { "false" }, span())
}

/// A number in generated code. It has no suffix, so that its type is inferred.
pub(crate) fn index(index: usize) -> Literal {
    literal(Literal::usize_unsuffixed(index))
}

/// `quote::quote!` at the place of generated code.
macro_rules! quote {
    ($($code:tt)*) => {
        ::quote::quote_spanned!($crate::site::span()=> $($code)*)
    };
}
pub(crate) use quote;
