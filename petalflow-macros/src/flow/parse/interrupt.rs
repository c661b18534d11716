//! Parsing of `interrupt before publish` and `interrupt after draft if |draft: &str| draft.len() > 400`.

use petalflow_graph::similar;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident, Token, Type};

use super::closure::params;
use super::node_ref::node_ref;
use crate::flow::ast::{Guard, Interrupt, Mistakes};
use crate::node::model::Source;

/// The part of a statement after `interrupt`. `None` if the guard is broken; this is then reported.
pub(super) fn interrupt(
    input: ParseStream,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Option<Interrupt>> {
    let after = is_after(input)?;
    let side = if after { "after" } else { "before" };
    if input.is_empty() || input.peek(Token![;]) || input.peek(Token![if]) {
        return Err(input.error(format_args!(
            "expected the node: `interrupt {side} publish`"
        )));
    }
    let node = node_ref(input)?;
    let guard = if input.parse::<Option<Token![if]>>()?.is_some() {
        match guard(input, state, mistakes)? {
            Some(guard) => Some(guard),
            None => return Ok(None),
        }
    } else {
        None
    };
    if input.peek(Token![,]) || input.peek(Token![&]) {
        return Err(input.error(format_args!(
            "an `interrupt` names one node: write a statement for each, `interrupt {side} {}; interrupt {side} ..`",
            node.key()
        )));
    }
    if !input.is_empty() && !input.peek(Token![;]) {
        return Err(input.error("expected `if |..| ..` or `;` after the node of an `interrupt`"));
    }
    Ok(Some(Interrupt { after, node, guard }))
}

/// Parses `before` or `after`.
fn is_after(input: ParseStream) -> syn::Result<bool> {
    let word = Ident::parse_any(input)?;
    let written = word.to_string();
    match &*written {
        "before" => Ok(false),
        "after" => Ok(true),
        _ => {
            let text = match similar(&written, ["before", "after"].into_iter()) {
                Some(meant) => format!(
                    "expected `before` or `after`, not `{written}`; did you mean `{meant}`?"
                ),
                None => format!(
                    "expected `before` or `after`: `interrupt before {written}` stops the run before the node, `interrupt after {written}` after it"
                ),
            };
            Err(syn::Error::new(word.span(), text))
        }
    }
}

/// The guard after `if`. `None` if its parameters are broken; this is then reported.
fn guard(input: ParseStream, state: &Type, mistakes: &mut Mistakes) -> syn::Result<Option<Guard>> {
    if input.is_empty() || input.peek(Token![;]) {
        return Err(input.error(
            "expected the guard, a closure that reads keys: `if |draft: &str| draft.len() > 400`",
        ));
    }
    let closure = match input.parse::<Expr>()? {
        Expr::Closure(closure) => closure,
        other => {
            let text =
                "a guard must be a closure that reads keys: `if |draft: &str| draft.len() > 400`";
            return Err(syn::Error::new_spanned(&other, text));
        }
    };
    if let Some(asynchronous) = &closure.asyncness {
        let text = "a guard is not async: await in a node before it, and read the key that the node writes";
        return Err(syn::Error::new(asynchronous.span(), text));
    }
    let Some(params) = params("a guard", &closure, state, mistakes) else {
        return Ok(None);
    };
    for param in &params {
        if let Source::Item(ty) = &param.source {
            let text = "a guard reads keys, and cannot take the item: only the node can";
            return Err(syn::Error::new_spanned(ty, text));
        }
    }
    Ok(Some(Guard {
        params,
        returns: closure.output,
        body: *closure.body,
    }))
}
