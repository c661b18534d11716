//! Errors of one macro call. All are reported at once.

use std::fmt::Display;

use petalflow_graph::Rule;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::DeriveInput;

use crate::site::quote;

/// The errors that were found so far.
#[derive(Default)]
pub(crate) struct Errors {
    all: Option<syn::Error>,
    count: usize,
}

impl Errors {
    /// Adds an error at these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Adds the violation of a rule that has a section in `docs/reference/rules.md`.
    pub(crate) fn rule(&mut self, rule: Rule, tokens: impl ToTokens, message: impl Display) {
        self.push(coded_at(rule, tokens, message));
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

    /// The value, or `None` after adding the error.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
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

/// The violation of a rule at these tokens.
pub(crate) fn coded_at(rule: Rule, tokens: impl ToTokens, message: impl Display) -> syn::Error {
    syn::Error::new_spanned(tokens, format_args!("{}: {message}", rule.code()))
}

/// Expands a derive: the generated code, and the errors that `code` finds.
pub(crate) fn derive(
    item: TokenStream,
    code: impl FnOnce(DeriveInput, &mut Errors) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::default();
    let code = match syn::parse2(item) {
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
