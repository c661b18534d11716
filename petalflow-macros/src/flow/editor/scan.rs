//! The names in the statements of a flow, complete or not.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree, token_stream::IntoIter};
use quote::TokenStreamExt as _;

use crate::editor::is_new;

/// A part of a statement that has names.
pub(super) enum Part {
    /// `write`, `nodes::write`, `START`.
    Node(TokenStream),
    /// A node, or one of these keywords.
    Word(Ident, &'static [&'static str]),
    /// The name of a route of this node.
    Arm { node: TokenStream, route: Ident },
    /// The place for the next arm of this node. It has a name if rust-analyzer completes one of which nothing is typed yet.
    NextArm {
        node: TokenStream,
        route: Option<Ident>,
    },
    /// `node polish = write`.
    Alias { name: Ident, node: TokenStream },
    /// `node polish: Polish = Polish::new()`.
    Value {
        name: Ident,
        ty: TokenStream,
        default: TokenStream,
    },
    /// `node review: Review { .. }`.
    Subflow { name: Ident, ty: TokenStream },
    /// An option of `with`, or of a sub-flow.
    Setting {
        of: Of,
        name: Ident,
        value: TokenStream,
    },
    /// The place for the next option, as for the next arm.
    NextSetting { of: Of, name: Option<Ident> },
    /// The guard of an `interrupt`.
    Guard(TokenStream),
}

/// What has options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Node,
    Subflow,
}

/// The words that begin a statement.
const KEYWORDS: &[&str] = &["node", "with", "defer", "catch", "interrupt"];

type Tokens = Peekable<IntoIter>;

/// The parts of all statements.
pub(super) fn statements(body: TokenStream) -> Vec<Part> {
    let mut parts = Vec::new();
    for statement in split(body, ';') {
        scan(statement, &mut parts);
    }
    parts
}

fn scan(statement: TokenStream, parts: &mut Vec<Part>) {
    let mut rest = statement.clone().into_iter().peekable();
    let Some(TokenTree::Ident(first)) = rest.next() else {
        return chain(statement, parts);
    };
    if rest.peek().is_none() {
        parts.push(Part::Word(first, KEYWORDS));
        return;
    }
    if !matches!(rest.peek(), Some(TokenTree::Ident(_))) {
        return chain(statement, parts);
    }
    match &*first.to_string() {
        "node" => declare(rest, parts),
        "with" => {
            node(&mut rest, parts);
            if let Some(TokenTree::Group(options)) = rest.next() {
                settings(options.stream(), Of::Node, parts);
            }
        }
        "catch" | "defer" => chain(all(rest), parts),
        "interrupt" => {
            if let Some(TokenTree::Ident(side)) = rest.next()
                && side != "before"
                && side != "after"
            {
                parts.push(Part::Word(side, &["before", "after"]));
            }
            node(&mut rest, parts);
            // `if`
            rest.next();
            let guard = all(rest);
            if !guard.is_empty() {
                parts.push(Part::Guard(guard));
            }
        }
        // The `;` between two statements is not written yet.
        _ => {
            parts.push(Part::Word(first, KEYWORDS));
            scan(all(rest), parts);
        }
    }
}

fn declare(mut rest: Tokens, parts: &mut Vec<Part>) {
    let Some(TokenTree::Ident(name)) = rest.next() else {
        return;
    };
    if is_punct(rest.next().as_ref(), '=') {
        if let Some(node) = path(&mut rest) {
            parts.push(Part::Alias { name, node });
        }
        return;
    }
    let mut ty = TokenStream::new();
    let mut default = TokenStream::new();
    while let Some(token) = rest.next() {
        if is_punct(Some(&token), '=') {
            default = all(rest);
            break;
        }
        match token {
            TokenTree::Group(options) if options.delimiter() == Delimiter::Brace => {
                parts.push(Part::Subflow { name, ty });
                return settings(options.stream(), Of::Subflow, parts);
            }
            token => ty.append(token),
        }
    }
    parts.push(Part::Value { name, ty, default });
}

fn settings(options: TokenStream, of: Of, parts: &mut Vec<Part>) {
    let mut new = None;
    for option in split(options, ',') {
        let mut tokens = option.into_iter().peekable();
        match tokens.next() {
            Some(TokenTree::Ident(name)) if is_new(&name) => new = Some(name),
            Some(TokenTree::Ident(name)) => {
                // `:` or `=`
                tokens.next();
                let value = all(tokens);
                parts.push(Part::Setting { of, name, value });
            }
            _ => {}
        }
    }
    parts.push(Part::NextSetting { of, name: new });
}

/// `a -> b & each c -> match { .. }`.
fn chain(tokens: TokenStream, parts: &mut Vec<Part>) {
    // The nodes of the group before the arrow, and of the group after it.
    let mut before = Vec::new();
    let mut after = Vec::<TokenStream>::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.peek() {
        match token {
            TokenTree::Ident(word) if word == "each" => {
                let each = tokens.next();
                let followed = matches!(
                    tokens.peek(),
                    Some(TokenTree::Ident(_) | TokenTree::Group(_))
                );
                if let (false, Some(each)) = (followed, each) {
                    after.push(each.into());
                }
            }
            TokenTree::Ident(word) if word == "match" => {
                tokens.next();
                if let Some(TokenTree::Group(group)) = tokens.peek() {
                    arms(group.stream(), before.first(), parts);
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                for token in group.stream() {
                    if matches!(&token, TokenTree::Ident(word) if word != "each") {
                        after.push(token.into());
                    }
                }
                tokens.next();
            }
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                for node in &after {
                    parts.push(Part::Node(node.clone()));
                }
                before = std::mem::take(&mut after);
                tokens.next();
            }
            _ => match path(&mut tokens) {
                Some(node) => after.push(node),
                None => drop(tokens.next()),
            },
        }
    }
    for node in after {
        parts.push(Part::Node(node));
    }
}

/// `Revise => write, Publish => END`.
fn arms(tokens: TokenStream, node: Option<&TokenStream>, parts: &mut Vec<Part>) {
    let mut new = None;
    for tokens in split(tokens, ',') {
        match tokens.clone().into_iter().next() {
            Some(TokenTree::Ident(route)) if is_new(&route) => new = Some(route),
            _ => arm(tokens, node, parts),
        }
    }
    if let Some(node) = node {
        let node = node.clone();
        parts.push(Part::NextArm { node, route: new });
    }
}

/// `Revise | Retry => write & log`.
fn arm(tokens: TokenStream, node: Option<&TokenStream>, parts: &mut Vec<Part>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(route) => {
                if let Some(node) = node {
                    let node = node.clone();
                    parts.push(Part::Arm { node, route });
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '=' => {
                tokens.next();
                return chain(all(tokens), parts);
            }
            _ => {}
        }
    }
}

/// Adds the node that a path names.
fn node(tokens: &mut Tokens, parts: &mut Vec<Part>) {
    if let Some(node) = path(tokens) {
        parts.push(Part::Node(node));
    }
}

/// A path, as far as it is written.
fn path(tokens: &mut Tokens) -> Option<TokenStream> {
    let mut path = TokenStream::new();
    let mut segment = true;
    while let Some(token) = tokens.peek() {
        match token {
            TokenTree::Ident(_) if segment => segment = false,
            TokenTree::Punct(punct) if punct.as_char() == ':' => segment = true,
            _ => break,
        }
        if let Some(token) = tokens.next() {
            path.append(token);
        }
    }
    (!path.is_empty()).then_some(path)
}

/// The parts between separators. A comma between the parameters of a closure does not separate.
fn split(tokens: TokenStream, separator: char) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    let mut part = TokenStream::new();
    let (mut parameters, mut before) = (false, ' ');
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        if punct == '|' {
            parameters = !parameters && before == ':';
        }
        if punct != separator || parameters {
            part.append(token);
        } else if !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        before = punct;
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// All tokens that are left.
fn all(rest: Tokens) -> TokenStream {
    let mut tokens = TokenStream::new();
    for token in rest {
        tokens.append(token);
    }
    tokens
}

fn is_punct(token: Option<&TokenTree>, is: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == is)
}
