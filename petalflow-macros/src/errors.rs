//! Collects the mistakes of one macro call, so that all are reported at once.

use std::fmt::Display;

use petalflow_graph::Rule;
use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>, usize);

impl Errors {
    /// A mistake at these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        // `into_token_stream` keeps `new_spanned` from being monomorphized per type.
        self.push(syn::Error::new_spanned(tokens.into_token_stream(), message));
    }

    /// A mistake at these tokens against a rule that has a page in `docs/reference/rules.md`.
    pub(crate) fn rule(&mut self, rule: Rule, tokens: impl ToTokens, message: impl Display) {
        self.at(tokens, format_args!("{}: {message}", rule.code()));
    }

    /// A mistake that a parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.1 += 1;
        let error = in_our_words(error);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// How many were reported. A part that reports some more is best taken to be whatever suits the rest.
    pub(crate) fn count(&self) -> usize {
        self.1
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// One `compile_error!` for each.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0
            .map(|error| error.to_compile_error())
            .unwrap_or_default()
    }
}

/// An error of a parser, described by what is expected instead of by the tokens that can begin it.
fn in_our_words(error: syn::Error) -> syn::Error {
    let text = error.to_string();
    let at_the_end = text.strip_prefix("unexpected end of input, ");
    let wanted = at_the_end.unwrap_or(&text);
    let wanted = if wanted.starts_with("expected one of: `for`") {
        "expected a type"
    } else if wanted.starts_with("expected one of: identifier, `::`") {
        "expected the name of a parameter"
    } else if wanted == "expected identifier" || wanted == "expected ident" {
        "expected a name"
    } else if at_the_end.is_some() {
        wanted
    } else {
        return error;
    };
    syn::Error::new(error.span(), wanted)
}
