//! Parsing of declarations and options of nodes: `node polish = write;`, `with fetch { retry: 3 }`.

use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Expr, Ident, Token, Type, braced, token};

use super::node_ref::node_ref;
use super::recovery::skip_to_semicolon;
use super::subflow::subflow;
use crate::errors::Errors;
use crate::flow::ast::{Declare, Declared, Mistakes, NodeValue, With};
use crate::options::comma_separated;

/// The part of a statement after `node`.
pub(super) fn declare(
    input: ParseStream,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Declare> {
    let name: Ident = input.parse()?;
    if name == "START" || name == "END" {
        mistakes.lose(syn::Error::new(
            name.span(),
            format_args!(
                "`{name}` is where a flow {}: a node needs another name",
                if name == "END" { "ends" } else { "begins" }
            ),
        ));
    }
    let what = parse_declared(input, &name, state, mistakes).unwrap_or_else(|error| {
        mistakes.lose(error);
        skip_to_semicolon(input);
        Declared::Broken
    });
    Ok(Declare { name, what })
}

fn parse_declared(
    input: ParseStream,
    name: &Ident,
    state: &Type,
    mistakes: &mut Mistakes,
) -> syn::Result<Declared> {
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return alias(input, name);
    }
    if !input.peek(Token![:]) {
        return Err(input.error(format_args!("expected `node {name} = other;` (a second name), `node {name}: Type = value;` (a node value) or `node {name}: Flow {{ in: .., out: .. }};` (a sub-flow)")));
    }
    input.parse::<Token![:]>()?;
    let ty: Type = input.parse()?;
    if input.peek(token::Brace) {
        let subflow = subflow(input, name, ty, state, mistakes)?;
        return Ok(match subflow {
            Some(subflow) => Declared::Subflow(Box::new(subflow)),
            None => Declared::Broken,
        });
    }
    let default = match input.parse::<Option<Token![=]>>()? {
        Some(_) => Some(input.parse()?),
        None => None,
    };
    Ok(Declared::Value(Box::new(NodeValue { ty, default })))
}

/// The part of a declaration after `=`.
fn alias(input: ParseStream, name: &Ident) -> syn::Result<Declared> {
    if !input.peek(Ident::peek_any) && !input.peek(Token![::]) {
        return Err(input
            .error("expected the node that gets a second name, such as `node polish = write;`"));
    }
    let path = node_ref(input).map_err(|error| {
        // A value, such as `Writer::new()` or `Shout::<Essay>`.
        if input.peek(token::Paren) || input.peek(Token![::]) || input.peek(Token![<]) {
            let text = format_args!("expected a node: `node {name} = write;` gives it a second name, `node {name}: Type = value;` declares a value");
            syn::Error::new(error.span(), text)
        } else {
            error
        }
    })?;
    Ok(Declared::Alias(path.0))
}

/// The part of a statement after `with`.
pub(super) fn with(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<With> {
    let node = node_ref(input)?;
    if !input.peek(token::Brace) {
        return Err(input.error(format_args!(
            "expected the options: `with {} {{ retry: 3, timeout: 30s }}`",
            node.key()
        )));
    }
    let content;
    braced!(content in input);
    let mut options = Vec::new();
    // These options do not change the graph, so no edge is lost.
    comma_separated(
        &content,
        &mut mistakes.errors,
        Errors::push,
        |content, _| {
            options.push(option(content)?);
            Ok(())
        },
    );
    Ok(With { node, options })
}

fn option(input: ParseStream) -> syn::Result<(Ident, Expr)> {
    let name = Ident::parse_any(input)?;
    if input.peek(Token![=]) {
        return Err(input.error(format_args!("an option is written `{name}: ..`")));
    }
    if !input.peek(Token![:]) {
        return Err(input.error(format_args!("expected a value: `{name}: ..`")));
    }
    input.parse::<Token![:]>()?;
    Ok((name, input.parse()?))
}
