//! The names in the statements of a flow, complete or not.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree, token_stream::IntoIter};

/// A part of a statement that has names.
pub(super) enum Part {
    /// `write`, `nodes::write`, `START`.
    Node(TokenStream),
    /// A node, or one of these keywords.
    Word(Ident, &'static [&'static str]),
    /// The name of a route of this node.
    Arm { node: TokenStream, route: Ident },
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
            parts.extend(path(&mut rest).map(Part::Node));
            if let Some(TokenTree::Group(options)) = rest.next() {
                settings(options.stream(), Of::Node, parts);
            }
        }
        "catch" | "defer" => chain(rest.collect(), parts),
        "interrupt" => {
            if let Some(TokenTree::Ident(side)) = rest.next()
                && side != "before"
                && side != "after"
            {
                parts.push(Part::Word(side, &["before", "after"]));
            }
            parts.extend(path(&mut rest).map(Part::Node));
            // `if`
            rest.next();
            let guard: TokenStream = rest.collect();
            if !guard.is_empty() {
                parts.push(Part::Guard(guard));
            }
        }
        // The `;` between two statements is not written yet.
        _ => {
            parts.push(Part::Word(first, KEYWORDS));
            scan(rest.collect(), parts);
        }
    }
}

fn declare(mut rest: Tokens, parts: &mut Vec<Part>) {
    let Some(TokenTree::Ident(name)) = rest.next() else {
        return;
    };
    if is_punct(rest.next().as_ref(), '=') {
        parts.extend(path(&mut rest).map(|node| Part::Alias { name, node }));
        return;
    }
    let (mut ty, mut default) = (TokenStream::new(), TokenStream::new());
    while let Some(token) = rest.next() {
        if is_punct(Some(&token), '=') {
            default.extend(rest);
            break;
        }
        match token {
            TokenTree::Group(options) if options.delimiter() == Delimiter::Brace => {
                parts.push(Part::Subflow { name, ty });
                return settings(options.stream(), Of::Subflow, parts);
            }
            token => ty.extend([token]),
        }
    }
    parts.push(Part::Value { name, ty, default });
}

fn settings(options: TokenStream, of: Of, parts: &mut Vec<Part>) {
    for option in split(options, ',') {
        let mut tokens = option.into_iter();
        if let Some(TokenTree::Ident(name)) = tokens.next() {
            let value = tokens.skip(1).collect();
            parts.push(Part::Setting { of, name, value });
        }
    }
}

/// `a -> b & each c -> match { .. }`.
fn chain(tokens: TokenStream, parts: &mut Vec<Part>) {
    // The nodes of the group before the arrow, and of the group after it.
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.peek() {
        match token {
            TokenTree::Ident(word) if word == "each" => {
                let each = tokens.next();
                if !matches!(
                    tokens.peek(),
                    Some(TokenTree::Ident(_) | TokenTree::Group(_))
                ) {
                    after.extend(each.map(TokenStream::from));
                }
            }
            TokenTree::Ident(word) if word == "match" => {
                tokens.next();
                if let Some(TokenTree::Group(group)) = tokens.peek() {
                    for arm in split(group.stream(), ',') {
                        self::arm(arm, before.first(), parts);
                    }
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                after.extend(
                    group
                        .stream()
                        .into_iter()
                        .filter_map(|token| match token {
                            TokenTree::Ident(word) if word != "each" => Some(word.into()),
                            _ => None,
                        })
                        .map(|word: TokenTree| TokenStream::from(word)),
                );
                tokens.next();
            }
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                parts.extend(after.iter().cloned().map(Part::Node));
                before = std::mem::take(&mut after);
                tokens.next();
            }
            _ => match path(&mut tokens) {
                Some(node) => after.push(node),
                None => drop(tokens.next()),
            },
        }
    }
    parts.extend(after.into_iter().map(Part::Node));
}

/// `Revise | Retry => write & log`.
fn arm(tokens: TokenStream, node: Option<&TokenStream>, parts: &mut Vec<Part>) {
    let mut tokens = tokens.into_iter();
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
                return chain(tokens.collect(), parts);
            }
            _ => {}
        }
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
        path.extend(tokens.next());
    }
    (!path.is_empty()).then_some(path)
}

/// The parts between separators. A comma between the parameters of a closure does not separate.
fn split(tokens: TokenStream, separator: char) -> Vec<TokenStream> {
    let (mut parts, mut parameters, mut before) = (vec![TokenStream::new()], false, ' ');
    for token in tokens {
        let punct = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        if punct == '|' {
            parameters = !parameters && before == ':';
        }
        if punct == separator && !parameters {
            parts.push(TokenStream::new());
        } else if let Some(part) = parts.last_mut() {
            part.extend([token]);
        }
        before = punct;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn is_punct(token: Option<&TokenTree>, is: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == is)
}
