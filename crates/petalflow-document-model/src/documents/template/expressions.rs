//! From the tokens of an action to a pipeline.

use std::collections::BTreeSet;

use super::arguments;
use super::ast::{Expr, FunctionCall, Pipeline};
use super::error::{TemplateError, error};
use super::functions::Function;
use super::lexer::{Token, is_keyword};
use super::number::{Constant, constant};

/// What is known about names while a template is parsed.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The variables in scope. Their places are those in the frame. The first one is `$`, with an empty name.
    pub(super) variables: Vec<String>,
    /// The names that fields begin with.
    pub(super) read: BTreeSet<String>,
    /// Whether all variables are read as one value.
    pub(super) reads_all: bool,
}

/// The tokens of an action that are left.
pub(super) struct Parser<'n> {
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, usize)>>,
    names: &'n mut Names,
    end: usize,
    depth: usize,
}

/// The most parentheses in each other.
const MAX_DEPTH: usize = 20;

/// Which variables a pipeline may declare.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Declares {
    No,
    One,
    /// Those of `range`.
    Two,
}

impl<'n> Parser<'n> {
    /// `end` is the position after the action.
    pub(super) fn new(tokens: Vec<(Token, usize)>, names: &'n mut Names, end: usize) -> Self {
        Parser {
            tokens: tokens.into_iter().peekable(),
            names,
            end,
            depth: 0,
        }
    }

    /// The pipeline that is the rest of the action.
    pub(super) fn all(mut self, declares: Declares) -> Result<Pipeline, TemplateError> {
        let pipeline = self.declaration(declares)?;
        match self.tokens.next() {
            None => Ok(pipeline),
            Some((token, at)) => Err(unexpected(&token, at)),
        }
    }

    /// `$x := pipeline`, `$x = pipeline`, `$i, $x := pipeline`, or a pipeline.
    fn declaration(&mut self, declares: Declares) -> Result<Pipeline, TemplateError> {
        let mut rest = self.tokens.clone();
        let mut declared = Vec::new();
        while let Some((Token::Variable(name, fields), at)) = rest.next() {
            declared.push((name, fields, at));
            match rest.next() {
                Some((Token::Comma, _)) => {}
                Some((operator @ (Token::Declare | Token::Assign), _)) => {
                    self.tokens = rest;
                    return self.declared(declared, operator == Token::Assign, declares);
                }
                _ => break,
            }
        }
        self.pipeline()
    }

    fn declared(
        &mut self,
        declared: Vec<(String, Vec<String>, usize)>,
        assigns: bool,
        declares: Declares,
    ) -> Result<Pipeline, TemplateError> {
        let at = declared[0].2;
        let most = match declares {
            Declares::No => return Err(error("a variable cannot be declared here", at)),
            Declares::One => 1,
            Declares::Two => 2,
        };
        if declared.len() > most {
            return Err(error(
                format!("at most {most} variables can be declared here"),
                at,
            ));
        }
        if let Some((_, _, at)) = declared
            .iter()
            .find(|(name, fields, _)| name.is_empty() || !fields.is_empty())
        {
            return Err(error("expected `$name`", *at));
        }
        let existing = if assigns {
            let places = declared
                .iter()
                .map(|(name, _, at)| self.variable(name, *at));
            places.collect::<Result<Vec<_>, _>>()?
        } else {
            Vec::new()
        };
        let mut pipeline = self.pipeline()?;
        pipeline.assigns = assigns;
        pipeline.variables = existing;
        if !assigns {
            for (name, ..) in declared {
                pipeline.variables.push(self.names.variables.len());
                self.names.variables.push(name);
            }
        }
        Ok(pipeline)
    }

    fn pipeline(&mut self) -> Result<Pipeline, TemplateError> {
        let position = self.tokens.peek().map_or(self.end, |(_, at)| *at);
        let first = self.first()?;
        let mut is_text = matches!(first, Expr::Text(_));
        let mut then = Vec::new();
        while self
            .tokens
            .next_if(|(token, _)| *token == Token::Pipe)
            .is_some()
        {
            match self.tokens.next() {
                Some((Token::Word(name), at)) if !is_constant(&name) => {
                    then.push(self.call(&name, at, Some(is_text))?);
                }
                Some((_, at)) => return Err(error("only a function can follow `|`", at)),
                None => return Err(error("a value is missing", self.end)),
            }
            is_text = false;
        }
        Ok(Pipeline {
            variables: Vec::new(),
            assigns: false,
            first,
            then,
            position,
        })
    }

    /// The first command of a pipeline: a value, or a function with its arguments.
    fn first(&mut self) -> Result<Expr, TemplateError> {
        let Some((token, at)) = self.tokens.next() else {
            return Err(error("a value is missing", self.end));
        };
        if let Token::Word(name) = &token
            && !is_constant(name)
        {
            return Ok(Expr::Call(self.call(name, at, None)?));
        }
        let value = self.operand(token, at)?;
        if matches!(value, Expr::Nil) {
            return Err(error("`nil` can only be an argument of a function", at));
        }
        match self.tokens.peek() {
            None
            | Some((
                Token::Pipe | Token::Close(_) | Token::Declare | Token::Assign | Token::Comma,
                _,
            )) => Ok(value),
            Some((_, at)) => Err(error("a value cannot have arguments", *at)),
        }
    }

    /// A function with its arguments. `piped` tells that a value is piped into it, and whether that is a text of the template.
    fn call(
        &mut self,
        name: &str,
        at: usize,
        piped: Option<bool>,
    ) -> Result<FunctionCall, TemplateError> {
        let Some(function) = Function::named(name) else {
            return Err(no_function(name, at));
        };
        let mut arguments = Vec::new();
        while let Some((token, at)) = self.tokens.next_if(|(token, _)| is_operand(token)) {
            arguments.push(self.operand(token, at)?);
        }
        arguments::check(function, &arguments, piped)
            .map_err(|problem| error(problem, at))
            .map(|last_first| FunctionCall {
                function,
                arguments,
                last_first,
                position: at,
            })
    }

    fn operand(&mut self, token: Token, at: usize) -> Result<Expr, TemplateError> {
        Ok(match token {
            Token::Path(names) => {
                match names.first() {
                    Some(first) => drop(self.names.read.insert(first.clone())),
                    None => self.names.reads_all = true,
                }
                Expr::Dot(names)
            }
            Token::Variable(name, fields) => {
                if name.is_empty() {
                    match fields.first() {
                        Some(first) => drop(self.names.read.insert(first.clone())),
                        None => self.names.reads_all = true,
                    }
                }
                let place = self.variable(&name, at)?;
                Expr::Variable(place, name, fields)
            }
            Token::Text(text) => Expr::Text(text.into()),
            Token::Char(value) => Expr::Int(value),
            Token::Number(text) => match constant(&text) {
                Some(Constant::Int(value)) => Expr::Int(value),
                Some(Constant::Float(value)) => Expr::Float(value),
                None => return Err(error(format!("`{text}` is not a number"), at)),
            },
            Token::Word(name) => match &*name {
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                "nil" => Expr::Nil,
                _ if Function::named(&name).is_some() => {
                    let problem = format!("put `{name}` and its arguments into parentheses");
                    return Err(error(problem, at));
                }
                _ => return Err(no_function(&name, at)),
            },
            Token::Open => return self.group(at),
            other => return Err(unexpected(&other, at)),
        })
    }

    fn group(&mut self, at: usize) -> Result<Expr, TemplateError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error("too many parentheses", at));
        }
        let value = self.declaration(Declares::No)?;
        self.depth -= 1;
        let Some((Token::Close(fields), _)) = self.tokens.next() else {
            return Err(error("`(` has no `)`", at));
        };
        Ok(Expr::Group(Box::new(value), fields))
    }

    /// The place of a variable. The newest one of its name is meant.
    fn variable(&self, name: &str, at: usize) -> Result<usize, TemplateError> {
        let place = self.names.variables.iter().rposition(|it| it == name);
        place.ok_or_else(|| error(format!("there is no variable `${name}` here"), at))
    }
}

fn is_operand(token: &Token) -> bool {
    !matches!(
        token,
        Token::Pipe | Token::Close(_) | Token::Declare | Token::Assign | Token::Comma
    )
}

fn is_constant(name: &str) -> bool {
    matches!(name, "true" | "false" | "nil")
}

fn no_function(name: &str, at: usize) -> TemplateError {
    error(
        if is_keyword(name) {
            format!("`{name}` cannot be a value")
        } else {
            format!("there is no function `{name}`: a variable is written `{{{{.{name}}}}}`")
        },
        at,
    )
}

fn unexpected(token: &Token, at: usize) -> TemplateError {
    let text = match token {
        Token::Close(_) => ")",
        Token::Pipe => "|",
        Token::Comma => ",",
        Token::Declare => ":=",
        Token::Assign => "=",
        _ => return error("unexpected text after the value", at),
    };
    error(format!("unexpected `{text}`"), at)
}
