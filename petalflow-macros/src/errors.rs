//! Errors of one macro call. All are reported at once.

use std::fmt::Display;

use petalflow_graph::Rule;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::DeriveInput;

use crate::parsers::parse_as;

/// The errors that were found so far.
#[derive(Default)]
pub(crate) struct Errors {
    all: Option<syn::Error>,
    count: usize,
}

impl Errors {
    /// Adds an error at these tokens.
    pub(crate) fn at(&mut self, tokens: &dyn ToTokens, message: impl Display) {
        self.push(error_at(tokens, &message));
    }

    /// Adds the violation of a rule that has a section in `docs/reference/rules.md`.
    pub(crate) fn rule(&mut self, rule: Rule, tokens: &dyn ToTokens, message: impl Display) {
        self.push(coded_at(rule, tokens, &message));
    }

    /// Adds an error of a parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.count += 1;
        let error = reword(error);
        match &mut self.all {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// The number of errors. A caller compares it before and after a step to see whether the step failed.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_none()
    }

    /// One `compile_error!` per error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        match self.all {
            Some(errors) => errors.to_compile_error(),
            None => TokenStream::new(),
        }
    }
}

/// An error at these tokens. [`syn::Error::new_spanned`] is compiled once per type of tokens and of message.
pub(crate) fn error_at(tokens: &dyn ToTokens, message: &dyn Display) -> syn::Error {
    syn::Error::new_spanned(tokens.to_token_stream(), message)
}

/// The violation of a rule at these tokens.
pub(crate) fn coded_at(rule: Rule, tokens: &dyn ToTokens, message: &dyn Display) -> syn::Error {
    error_at(tokens, &format_args!("{}: {message}", rule.code()))
}

/// Expands a derive: the generated code, and the errors that `code` finds.
pub(crate) fn derive(
    item: TokenStream,
    code: &dyn Fn(DeriveInput, &mut Errors) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::default();
    let code = match parse_as(item) {
        Ok(item) => code(item, &mut errors),
        Err(error) => {
            errors.push(error);
            TokenStream::new()
        }
    };
    let errors = errors.into_tokens();
    quote!(#code #errors)
}

/// Replaces some messages of syn, which list all tokens that could follow, by the name of what is expected.
fn reword(error: syn::Error) -> syn::Error {
    let text = error.to_string();
    let at_end = text.strip_prefix("unexpected end of input, ");
    let expected = at_end.unwrap_or(&text);
    let expected = if expected.starts_with("expected one of: `for`") {
        "expected a type"
    } else if expected.starts_with("expected one of: identifier, `::`") {
        "expected the name of a parameter"
    } else if expected == "expected identifier" || expected == "expected ident" {
        "expected a name"
    } else if at_end.is_some() {
        expected
    } else {
        return error;
    };
    syn::Error::new(error.span(), expected)
}
