//! From the actions of a template to its blocks.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::ast::{Call, Named, Node, Range};
use super::error::{TemplateError, error};
use super::expressions::{Declares, Names, Parser};
use super::lexer::{Token, is_keyword, tokens};
use super::pieces::{Piece, pieces};

/// The most blocks in each other.
const MAX_BLOCKS: usize = 40;

/// A parsed template.
pub(super) struct Parsed {
    pub(super) nodes: Vec<Node>,
    pub(super) named: Named,
    pub(super) names: Names,
}

pub(super) fn parse(text: &str) -> Result<Parsed, TemplateError> {
    let mut blocks = Blocks {
        pieces: pieces(text)?.into_iter().peekable(),
        names: Names::default(),
        named: Named::new(),
        calls: Vec::new(),
        open: Vec::new(),
    };
    blocks.names.variables.push(String::new());
    let (nodes, end) = blocks.list()?;
    if let Some(End {
        position, is_else, ..
    }) = end
    {
        let problem = if is_else {
            "`else` without `if`"
        } else {
            "`end` without `if`, `with` or `range`"
        };
        return Err(error(problem, position));
    }
    for (name, position) in &blocks.calls {
        if !blocks.named.contains_key(name) {
            return Err(error(
                format!("there is no template `{name}`: it needs a `define`"),
                *position,
            ));
        }
    }
    Ok(Parsed {
        nodes,
        named: blocks.named,
        names: blocks.names,
    })
}

/// An action: its first word, if it is a keyword, and its tokens after that.
struct Action {
    keyword: Option<String>,
    tokens: Vec<(Token, usize)>,
    position: usize,
    end: usize,
}

/// What ends a list of nodes.
struct End {
    is_else: bool,
    /// What follows `else`.
    rest: Action,
    position: usize,
}

struct Blocks<'t> {
    pieces: Peekable<IntoIter<Piece<'t>>>,
    names: Names,
    named: Named,
    /// The templates that are called.
    calls: Vec<(String, usize)>,
    /// The blocks that are open.
    open: Vec<&'static str>,
}

type List = (Vec<Node>, Option<End>);

impl Blocks<'_> {
    /// Nodes up to an `else` or `end`, or to the end of the template.
    fn list(&mut self) -> Result<List, TemplateError> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.next() {
            let (inside, position) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text.to_owned()));
                    continue;
                }
                Piece::Action(inside, position) => (inside, position),
            };
            let mut action = action(inside, position)?;
            match action.keyword.as_deref() {
                Some(word @ ("end" | "else")) => {
                    let is_else = word == "else";
                    if !is_else {
                        nothing_follows(&action)?;
                    }
                    return Ok((
                        nodes,
                        Some(End {
                            is_else,
                            position,
                            rest: action,
                        }),
                    ));
                }
                Some("define") => self.define(&mut action)?,
                Some(_) => nodes.push(self.statement(action)?),
                None => {
                    let pipeline = self.parser(action).all(Declares::One)?;
                    nodes.push(Node::Action(pipeline));
                }
            }
        }
        Ok((nodes, None))
    }

    fn parser(&mut self, action: Action) -> Parser<'_> {
        Parser::new(action.tokens, &mut self.names, action.end)
    }

    fn statement(&mut self, mut action: Action) -> Result<Node, TemplateError> {
        let position = action.position;
        match action.keyword.as_deref() {
            Some("if") => self.branches("if", action).map(|(a, b)| Node::If(a, b)),
            Some("with") => self.branches("with", action).map(|(a, b)| Node::With(a, b)),
            Some("range") => self.range(action),
            Some("break" | "continue") => {
                nothing_follows(&action)?;
                let is_break = action.keyword.as_deref() == Some("break");
                if !self.open.contains(&"range") {
                    let word = if is_break { "break" } else { "continue" };
                    return Err(error(format!("`{word}` without `range`"), position));
                }
                Ok(if is_break {
                    Node::Break
                } else {
                    Node::Continue
                })
            }
            Some("block") => {
                let name = name(&mut action)?;
                let call = self.call(name.clone(), action, true)?;
                self.body_of(name, "block", position)?;
                Ok(call)
            }
            _ => {
                let name = name(&mut action)?;
                self.call(name, action, false)
            }
        }
    }

    fn call(
        &mut self,
        name: String,
        action: Action,
        needs_dot: bool,
    ) -> Result<Node, TemplateError> {
        let position = action.position;
        let dot = match (action.tokens.is_empty(), needs_dot) {
            (true, false) => None,
            _ => Some(self.parser(action).all(Declares::No)?),
        };
        self.calls.push((name.clone(), position));
        Ok(Node::Call(Call {
            name,
            dot,
            position,
        }))
    }

    fn define(&mut self, action: &mut Action) -> Result<(), TemplateError> {
        let name = name(action)?;
        nothing_follows(action)?;
        if !self.open.is_empty() {
            return Err(error("`define` cannot be in a block", action.position));
        }
        self.body_of(name, "define", action.position)
    }

    /// The body of a named template. It sees no variables of the outer one.
    fn body_of(
        &mut self,
        name: String,
        word: &'static str,
        position: usize,
    ) -> Result<(), TemplateError> {
        let outer = std::mem::replace(&mut self.names.variables, vec![String::new()]);
        let open = std::mem::take(&mut self.open);
        // The blocks around it count, because they are parsed with it.
        if open.len() >= MAX_BLOCKS {
            return Err(too_many_blocks(position));
        }
        self.open = vec!["template"; open.len()];
        let (body, end) = self.inside(word, position)?;
        self.names.variables = outer;
        self.open = open;
        if end.is_else {
            return Err(error("`else` without `if`", end.position));
        }
        if self.named.contains_key(&name) {
            let problem = format!("there are two templates `{name}`");
            return Err(error(problem, position));
        }
        self.named.insert(name, body);
        Ok(())
    }

    /// The nodes of a block, and what ends them.
    fn inside(
        &mut self,
        word: &'static str,
        position: usize,
    ) -> Result<(Vec<Node>, End), TemplateError> {
        self.open.push(word);
        if self.open.len() > MAX_BLOCKS {
            return Err(too_many_blocks(position));
        }
        let (nodes, end) = self.list()?;
        self.open.pop();
        let end = end.ok_or_else(|| error(format!("`{word}` has no `end`"), position))?;
        Ok((nodes, end))
    }

    /// The branches of `if` or `with`, and what `else` has.
    #[allow(clippy::type_complexity)]
    fn branches(
        &mut self,
        word: &'static str,
        first: Action,
    ) -> Result<(Vec<(super::ast::Pipeline, Vec<Node>)>, Vec<Node>), TemplateError> {
        let outer = self.names.variables.len();
        let position = first.position;
        let mut branches = Vec::new();
        let mut action = first;
        loop {
            let condition = self.parser(action).all(Declares::One)?;
            // What a condition declares is there in the branches after it.
            let declared = self.names.variables.len();
            let (nodes, end) = self.inside(word, position)?;
            self.names.variables.truncate(declared);
            branches.push((condition, nodes));
            if !end.is_else {
                self.names.variables.truncate(outer);
                return Ok((branches, Vec::new()));
            }
            match else_word(&end.rest)? {
                None => {
                    let otherwise = self.otherwise(word, position)?;
                    self.names.variables.truncate(outer);
                    return Ok((branches, otherwise));
                }
                Some(next) if next == word => action = without_first(end.rest),
                Some(_) => {
                    return Err(error(
                        format!("expected `else` or `else {word}`"),
                        end.position,
                    ));
                }
            }
        }
    }

    /// What follows `else`, up to the `end`.
    fn otherwise(
        &mut self,
        word: &'static str,
        position: usize,
    ) -> Result<Vec<Node>, TemplateError> {
        let (nodes, end) = self.inside(word, position)?;
        if end.is_else {
            return Err(error("a second `else`", end.position));
        }
        Ok(nodes)
    }

    fn range(&mut self, action: Action) -> Result<Node, TemplateError> {
        let outer = self.names.variables.len();
        let position = action.position;
        let list = self.parser(action).all(Declares::Two)?;
        let declared = self.names.variables.len();
        let (body, end) = self.inside("range", position)?;
        self.names.variables.truncate(declared);
        let mut otherwise = Vec::new();
        if end.is_else {
            if else_word(&end.rest)?.is_some() {
                return Err(error("`else if` without `if`", end.position));
            }
            // A `break` there would belong to an outer `range`.
            otherwise = self.otherwise("else", position)?;
        }
        self.names.variables.truncate(outer);
        Ok(Node::Range(Box::new(Range {
            list,
            body,
            otherwise,
        })))
    }
}

fn too_many_blocks(position: usize) -> TemplateError {
    error(
        format!("more than {MAX_BLOCKS} blocks in each other"),
        position,
    )
}

fn action(inside: &str, position: usize) -> Result<Action, TemplateError> {
    let mut tokens = tokens(inside, position)?;
    let end = position + inside.len();
    let keyword = match tokens.first() {
        Some((Token::Word(word), _)) if is_keyword(word) => Some(word.clone()),
        _ => None,
    };
    if keyword.is_some() {
        tokens.remove(0);
    }
    Ok(Action {
        keyword,
        tokens,
        position,
        end,
    })
}

fn nothing_follows(action: &Action) -> Result<(), TemplateError> {
    match action.tokens.first() {
        None => Ok(()),
        Some((_, at)) => {
            let word = action.keyword.as_deref().unwrap_or_default();
            Err(error(format!("`{word}` is followed by nothing"), *at))
        }
    }
}

/// The word after `else`.
fn else_word(action: &Action) -> Result<Option<&str>, TemplateError> {
    match action.tokens.first() {
        None => Ok(None),
        Some((Token::Word(word), _)) if is_keyword(word) => Ok(Some(word)),
        Some((_, at)) => Err(error("expected `else` or `else if`", *at)),
    }
}

fn without_first(mut action: Action) -> Action {
    action.tokens.remove(0);
    action
}

/// The name of a template, which is the first token.
fn name(action: &mut Action) -> Result<String, TemplateError> {
    if let Some((Token::Text(name), _)) = action.tokens.first() {
        let name = name.clone();
        action.tokens.remove(0);
        return Ok(name);
    }
    let word = action.keyword.as_deref().unwrap_or_default();
    let problem = format!("`{word}` needs the name of a template, in quotes");
    Err(error(problem, action.position))
}
