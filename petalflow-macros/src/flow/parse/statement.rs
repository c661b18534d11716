//! Parsing of one statement.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Ident, Token, Type};

use super::chain::chain;
use super::declare::{declare, with};
use super::interrupt::interrupt;
use super::misplaced::next_word;
use super::node_ref::node_ref;
use super::recovery::skip_to_semicolon;
use crate::flow::ast::{Catch, Mistakes, Statement};

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
    let statement = match &*next_word(input) {
        "node" => {
            input.parse::<Ident>()?;
            Statement::Declare(declare(input, state, mistakes)?)
        }
        "with" => {
            input.parse::<Ident>()?;
            Statement::With(with(input, mistakes)?)
        }
        "defer" => {
            input.parse::<Ident>()?;
            Statement::Defer(node_ref(input)?)
        }
        "catch" => {
            input.parse::<Ident>()?;
            Statement::Catch(catch(input, mistakes)?)
        }
        "interrupt" => {
            input.parse::<Ident>()?;
            let interrupt = interrupt(input, state, mistakes).unwrap_or_else(|error| {
                // An interrupt has no edges.
                mistakes.errors.push(error);
                skip_to_semicolon(input);
                None
            });
            return Ok(interrupt.map(Statement::Interrupt));
        }
        _ => chain(input, mistakes)?,
    };
    Ok(Some(statement))
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
