//! Attributes and conditions, which statements and arms do not have.

use syn::parse::ParseStream;
use syn::{Attribute, Token};

use crate::errors::Errors;

/// Reports attributes before a statement, or before the arm of a `match`, and skips them.
pub(super) fn reject_attributes(input: ParseStream, errors: &mut Errors) {
    let inner = input.call(Attribute::parse_inner).unwrap_or_default();
    let outer = input.call(Attribute::parse_outer).unwrap_or_default();
    if let Some(attr) = inner.first().or(outer.first()) {
        let message = if attr.path().is_ident("doc") {
            "only the flow itself has documentation: write this as a comment, `// ..`, or above the name of the flow"
        } else {
            "only the flow itself has attributes: write this above the name of the flow, or declare two flows"
        };
        errors.at(attr, message);
    }
}

/// The error for a condition, which no edge has.
pub(super) fn conditional(input: ParseStream) -> syn::Error {
    input.error("an edge has no condition: let the node before the arrow return a route (`#[derive(Route)]`) or a `bool`, and lead each of its values: `write -> match { true => polish, false => END }`")
}

/// Whether a word follows that is not a node, but begins a condition.
pub(super) fn begins_condition(input: ParseStream) -> bool {
    input.peek(Token![if])
        || input.peek(Token![where])
        || matches!(&*next_word(input), "when" | "unless")
}

/// The next token if it is a word, or an empty text. `syn::custom_keyword!` would make a type of each keyword.
pub(super) fn next_word(input: ParseStream) -> String {
    match input.cursor().ident() {
        Some((word, _)) => word.to_string(),
        None => String::new(),
    }
}
