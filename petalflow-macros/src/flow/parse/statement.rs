//! Parsing of one statement.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, Token, Type};

use super::chain::chain;
use super::declare::{declare, with};
use super::interrupt::interrupt;
use super::node_ref::node_ref;
use super::recovery::skip_to_semicolon;
use crate::flow::ast::{Catch, Mistakes, Statement};

/// The keywords that begin a statement if an identifier follows.
mod kw {
    syn::custom_keyword!(node);
    syn::custom_keyword!(with);
    syn::custom_keyword!(defer);
    syn::custom_keyword!(catch);
    syn::custom_keyword!(interrupt);
}

/// A statement, up to its `;`. `None` if the statement is broken but no edge is lost; the error is then reported.
pub(super) fn statement(
    input: ParseStream,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Option<Statement>> {
    // A node may have the name `node` or `with`, so these are keywords only if an identifier follows.
    if !input.peek2(Ident::peek_any) {
        return chain(input, mistakes).map(Some);
    }
    if input.parse::<Option<kw::node>>()?.is_some() {
        return declare(input, state, mistakes).map(|declare| Some(Statement::Declare(declare)));
    }
    if input.parse::<Option<kw::with>>()?.is_some() {
        return with(input, mistakes).map(|with| Some(Statement::With(with)));
    }
    if input.parse::<Option<kw::defer>>()?.is_some() {
        return node_ref(input).map(|node| Some(Statement::Defer(node)));
    }
    if input.parse::<Option<kw::catch>>()?.is_some() {
        return catch(input, mistakes).map(|catch| Some(Statement::Catch(catch)));
    }
    if input.parse::<Option<kw::interrupt>>()?.is_some() {
        let interrupt = interrupt(input, state, mistakes).unwrap_or_else(|error| {
            // An interrupt has no edges.
            mistakes.errors.push(error);
            skip_to_semicolon(input);
            None
        });
        return Ok(interrupt.map(Statement::Interrupt));
    }
    chain(input, mistakes).map(Some)
}

/// The part of a statement after `catch`.
fn catch(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Catch> {
    let from = node_ref(input)?;
    if input.peek(Token![&]) || input.peek(Token![|]) || input.peek(Token![,]) {
        return Err(input.error(format_args!(
            "a `catch` names one node: write a statement for each, `catch {} -> ..; catch ..`",
            from.key()
        )));
    }
    if !input.peek(Token![->]) {
        return Err(input.error(format_args!(
            "`catch` needs the node that a failure leads to: `catch {} -> recover`",
            from.key()
        )));
    }
    input.parse::<Token![->]>()?;
    let to = node_ref(input)?;
    if input.peek(Token![->]) {
        mistakes.lose(input.error(format_args!(
            "a `catch` ends at its target: write what follows `{0}` as a separate statement, `{0} -> ..`",
            to.key()
        )));
        skip_to_semicolon(input);
    }
    Ok(Catch { from, to })
}
