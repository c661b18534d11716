//! Parsing of groups of nodes: `a & b`, `each (b | c)`, and of the arms of a `match`.

use petalflow_graph::Rule;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Token, braced, parenthesized, token};

use super::misplaced::{begins_condition, next_word, reject_attributes};
use super::mixed_operators::{self, Operator, Position};
use super::node_ref::node_ref;
use crate::flow::ast::{Arm, Group, Mistakes, RouteName};
use crate::options::comma_separated;
use crate::site::quote;

/// Nodes joined by `&` or by `|`.
pub(super) fn group(
    input: ParseStream,
    position: Position,
    mistakes: &mut Mistakes,
) -> syn::Result<Group> {
    let mut operands = vec![operand(input, position, mistakes)?];
    let mut operators = Vec::new();
    while let Some(operator) = operator(input)? {
        operators.push(operator);
        operands.push(operand(input, position, mistakes)?);
    }
    let mixed = operators.contains(&Operator::And) && operators.contains(&Operator::Or);
    if !mixed {
        return Ok(combine(operands, operators.first().copied()));
    }
    let text = mixed_operators::message(&operands, &operators, position);
    // The nodes stay known. `lose` prevents the errors that only follow from this one.
    let nodes = operands.iter().flat_map(Group::nodes);
    let whole = Group::And(nodes.cloned().map(Group::Node).collect());
    let text = format!("{}: {text}", Rule::MixedOperators.code());
    mistakes.lose(syn::Error::new_spanned(&whole, text));
    Ok(whole)
}

/// The operator between two operands, if there is one.
fn operator(input: ParseStream) -> syn::Result<Option<Operator>> {
    if input.peek(Token![&&]) {
        return Err(input.error("`&&` is not used here: write `&` for both"));
    }
    if input.peek(Token![||]) {
        return Err(input.error("`||` is not used here: write `|` for one of them"));
    }
    if input.peek(Token![&]) {
        input.parse::<Token![&]>()?;
        return Ok(Some(Operator::And));
    }
    if input.peek(Token![|]) {
        input.parse::<Token![|]>()?;
        return Ok(Some(Operator::Or));
    }
    Ok(None)
}

/// One operand: a node, `each`, or a group in parentheses.
fn operand(input: ParseStream, position: Position, mistakes: &mut Mistakes) -> syn::Result<Group> {
    // A node may have the name `each`.
    if next_word(input) == "each"
        && (input.peek2(Ident::peek_any) || input.peek2(token::Paren) || input.peek2(Token![::]))
    {
        input.parse::<Ident>()?;
        if next_word(input) == "each" && input.peek2(Ident::peek_any) {
            return Err(
                input.error("`each` is written once: an edge delivers one item to each task")
            );
        }
        return Ok(Group::Each(Box::new(operand(input, position, mistakes)?)));
    }
    if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        let group = group(&content, position, mistakes)?;
        if !content.is_empty() {
            let text = if content.peek(Token![,]) {
                "nodes are not separated by `,`: write `&` for all of them, `|` for one of them"
            } else {
                "expected `&`, `|` or `)`"
            };
            return Err(content.error(text));
        }
        return Ok(group);
    }
    if matches!(position, Position::Target) && begins_arms(input) {
        return Err(
            input.error("routes follow the word `match`: write `-> match { Route => node, .. }`")
        );
    }
    let node = node_ref(input)?;
    if input.peek(token::Brace) {
        return Err(input.error(format_args!(
            "only the name of a node is allowed here: write its options in `with {0} {{ .. }}`, and declare a node value with `node name: {0} = value;`",
            node.key()
        )));
    }
    Ok(Group::Node(node))
}

/// Whether the arms of a `match` follow, without the word.
fn begins_arms(input: ParseStream) -> bool {
    let Ok(TokenTree::Group(braces)) = input.fork().parse() else {
        return false;
    };
    let arm = |input: ParseStream| {
        let is_arm = input.peek(Ident::peek_any) && input.peek2(Token![=>]);
        input.parse::<TokenStream>()?;
        Ok(is_arm)
    };
    braces.delimiter() == Delimiter::Brace && arm.parse2(braces.stream()).is_ok_and(|is_arm| is_arm)
}

/// Combines operands to one group. Nested groups with the same operator become part of it.
fn combine(mut operands: Vec<Group>, operator: Option<Operator>) -> Group {
    let Some(operator) = operator else {
        return operands.remove(0);
    };
    let mut flat = Vec::new();
    for operand in operands {
        match (operand, operator) {
            (Group::And(groups), Operator::And) | (Group::Or(groups), Operator::Or) => {
                flat.extend(groups);
            }
            (operand, _) => flat.push(operand),
        }
    }
    match operator {
        Operator::And => Group::And(flat),
        Operator::Or => Group::Or(flat),
    }
}

/// The arms in their braces. An arm that cannot be parsed is reported and skipped.
pub(super) fn arms(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Vec<Arm>> {
    let content;
    braced!(content in input);
    let mut arms = Vec::new();
    comma_separated(&content, mistakes, Mistakes::lose, |content, mistakes| {
        arms.push(arm(content, mistakes)?);
        if content.is_empty() || content.peek(Token![,]) {
            return Ok(());
        }
        Err(content.error(if content.peek(Token![->]) {
            "an arm ends at its target: write what follows the target as a separate statement"
        } else {
            "expected `,` between two arms"
        }))
    });
    Ok(arms)
}

const NO_CONDITION: &str = "an arm has no condition: let the node return another route for it";

fn arm(input: ParseStream, mistakes: &mut Mistakes) -> syn::Result<Arm> {
    reject_attributes(input, &mut mistakes.errors);
    let mut routes = vec![route_name(input)?];
    while input.parse::<Option<Token![|]>>()?.is_some() {
        routes.push(route_name(input)?);
    }
    if input.peek(Token![->]) {
        return Err(input.error("an arm is written `=>`"));
    }
    if begins_condition(input) {
        return Err(input.error(NO_CONDITION));
    }
    if !input.peek(Token![=>]) {
        return Err(input.error(format_args!(
            "expected where the route leads: `{} => ..`",
            routes[0].name()
        )));
    }
    input.parse::<Token![=>]>()?;
    if input.peek(Token![match]) {
        return Err(
            input.error("an arm leads to nodes, not to a choice: let one of these nodes choose")
        );
    }
    Ok(Arm {
        routes,
        target: group(input, Position::Arm, mistakes)?,
    })
}

fn route_name(input: ParseStream) -> syn::Result<RouteName> {
    if input.peek(Token![_]) {
        return Err(input.error(
            "`_` is not a route: name every route, so that the compiler reports a new one",
        ));
    }
    if begins_condition(input) && !input.peek2(Token![=>]) && !input.peek2(Token![|]) {
        return Err(input.error(NO_CONDITION));
    }
    if !input.peek(Ident::peek_any) {
        return Err(input.error("expected a route: the name of a variant, `true` or `false`"));
    }
    let name = input.call(Ident::parse_any)?;
    if input.peek(Token![::]) {
        let mut path = vec![name];
        while input.parse::<Option<Token![::]>>()?.is_some() {
            path.push(input.call(Ident::parse_any)?);
        }
        let variant = &path[path.len() - 1];
        let tokens = quote!(#(#path)*);
        let text = format_args!("a route has only the name of its variant: write `{variant}`");
        return Err(syn::Error::new_spanned(&tokens, text));
    }
    if input.peek(token::Paren) || input.peek(token::Brace) {
        return Err(input.error(format_args!(
            "an arm has only the name of the route, and its target takes the value with `#[item]`: write `{name} => ..`"
        )));
    }
    Ok(RouteName(name))
}
