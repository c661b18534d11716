//! Parsing of the name of a node.

use petalflow_graph::similar;
use proc_macro2::{Group, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{AngleBracketedGenericArguments, Ident, Path, PathArguments, Token, token};

use super::misplaced::conditional;
use crate::flow::ast::NodeRef;

/// A path that names a node.
pub(super) fn node_ref(input: ParseStream) -> syn::Result<NodeRef> {
    if !input.peek(Token![::])
        && !input.peek(Ident)
        && !input.peek(Token![crate])
        && !input.peek(Token![self])
        && !input.peek(Token![super])
    {
        return Err(expected_node(input));
    }
    let begin = input.fork();
    let node = Path::parse_mod_style(input).map(NodeRef);
    if (node.is_err() || input.peek(Token![<]))
        && let Some(arguments) = generic_arguments(&begin)
    {
        let text = "a node has no generic arguments; declare a node value to use them: `node name: Type<..> = value;`";
        return Err(syn::Error::new_spanned(&arguments, text));
    }
    let node = node?;
    if input.peek(token::Paren) && node.0.is_ident("Send") {
        return Err(send_is_not_used(&node, input));
    }
    if let Some(end) = misspelt_end(&node) {
        let key = node.key();
        let text = format_args!(
            "`{key}` is not a node: write `{end}`; a node that has this name needs another one: `node other = {key};`"
        );
        return Err(syn::Error::new_spanned(&node, text));
    }
    if input.peek(token::Paren) {
        return Err(input.error(format_args!(
            "a node is named here, not called: write `{}`",
            node.key()
        )));
    }
    Ok(node)
}

/// The error for `Send(research)`, as another library has it.
fn send_is_not_used(node: &NodeRef, input: ParseStream) -> syn::Error {
    let target = node_in_parentheses(input).unwrap_or_else(|| "research".to_string());
    let text = format_args!(
        "an edge delivers items with `each`: write `each {target}`, and return the items with `Each(items)` from the node before it"
    );
    syn::Error::new_spanned(node, text)
}

/// The first name in the parentheses that follow.
fn node_in_parentheses(input: ParseStream) -> Option<String> {
    let group: Group = input.fork().parse().ok()?;
    match group.stream().into_iter().next()? {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    }
}

/// `<A, B>` after a segment of the path.
fn generic_arguments(input: ParseStream) -> Option<AngleBracketedGenericArguments> {
    let path: Path = input.parse().ok()?;
    path.segments
        .into_iter()
        .find_map(|segment| match segment.arguments {
            PathArguments::AngleBracketed(arguments) => Some(arguments),
            _ => None,
        })
}

/// The error for a token that cannot begin the name of a node.
fn expected_node(input: ParseStream) -> syn::Error {
    if input.peek(syn::Lit) {
        return input.error("expected the name of a node, without quotes");
    }
    if input.peek(Token![if]) {
        return conditional(input);
    }
    if input.peek(Ident::peek_any) {
        let word = input
            .fork()
            .call(Ident::parse_any)
            .map(|word| word.to_string())
            .unwrap_or_default();
        match word.as_str() {
            "let" => return input.error("a node gets a second name, or is declared as a value, with `node`: `node polish = write;`, `node polish: Type = value;`"),
            "match" => return input.error("the node that chooses the route comes before `match`: `write -> match { Revise => .., Publish => END }`"),
            "for" | "while" | "loop" => return input.error(format_args!("a flow has no loops: `plan -> each research` runs a node once per item, and a cycle repeats nodes: `critique -> match {{ Revise => write, Publish => END }}`; a node of this name is written `r#{word}`")),
            _ => {}
        }
        return input.error(format_args!(
            "`{word}` is a keyword: a node of this name is written `r#{word}`"
        ));
    }
    if input.peek(token::Bracket) || input.peek(token::Brace) {
        return input.error("several nodes are written without brackets and braces: `&` between them for all of them, `|` for one of them");
    }
    if input.peek(Token![;]) || input.is_empty() {
        return input.error("expected a node, `START` or `END`");
    }
    input.error("expected a node, such as `write` or `nodes::write`, or `START` or `END`")
}

/// `START` or `END`, if the node has a similar name. Names of functions have no capitals, so `start` and `end` can be nodes.
fn misspelt_end(node: &NodeRef) -> Option<&'static str> {
    let name = node.0.get_ident()?.to_string();
    let exact = name == "START" || name == "END";
    if exact || !name.as_bytes().first().is_some_and(u8::is_ascii_uppercase) {
        return None;
    }
    similar(&name, ["START", "END"].into_iter())
}
