//! From an action to an expression of Jinja.

use super::error::{TemplateError, error};
use super::functions::{self, call};
use super::lexer::{Token, tokens};

pub(super) struct Parser<'d> {
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, usize)>>,
    dot: &'d str,
    /// Missing variables are allowed.
    lenient: bool,
    end: usize,
    depth: usize,
}

/// The most parentheses in each other.
const MAX_DEPTH: usize = 20;

/// Words that Jinja does not accept as the name of a variable.
const RESERVED: [&str; 12] = [
    "true", "false", "none", "True", "False", "None", "and", "or", "not", "in", "is", "if",
];

impl<'d> Parser<'d> {
    pub(super) fn new(
        text: &str,
        position: usize,
        dot: &'d str,
        lenient: bool,
    ) -> Result<Self, TemplateError> {
        Ok(Parser {
            tokens: tokens(text, position)?.into_iter().peekable(),
            dot,
            lenient,
            end: position + text.len(),
            depth: 0,
        })
    }

    /// The whole action.
    pub(super) fn all(mut self) -> Result<String, TemplateError> {
        let value = self.pipeline()?;
        match self.tokens.next() {
            None => Ok(value),
            Some((_, at)) => Err(error("unexpected `)`", at)),
        }
    }

    fn pipeline(&mut self) -> Result<String, TemplateError> {
        let mut value = self.command(None)?;
        while self
            .tokens
            .next_if(|(token, _)| *token == Token::Pipe)
            .is_some()
        {
            value = self.command(Some(value))?;
        }
        Ok(value)
    }

    /// A value, or a function with its arguments. A piped value is the last argument.
    fn command(&mut self, piped: Option<String>) -> Result<String, TemplateError> {
        let Some((token, at)) = self.tokens.next() else {
            return Err(error("a value is missing", self.end));
        };
        if let Token::Word(name) = &token
            && constant(name).is_none()
        {
            return self.function(name, piped, at);
        }
        let value = self.operand(token, at, self.lenient)?;
        if piped.is_some() {
            return Err(error("only a function can follow `|`", at));
        }
        if let Some((token, at)) = self.tokens.peek()
            && !matches!(token, Token::Pipe | Token::Close(_))
        {
            return Err(error("a value cannot have arguments", *at));
        }
        Ok(value)
    }

    fn function(
        &mut self,
        name: &str,
        piped: Option<String>,
        at: usize,
    ) -> Result<String, TemplateError> {
        if !functions::NAMES.contains(&name) {
            let problem = format!("there is no function `{name}`: a variable is written `.{name}`");
            return Err(error(problem, at));
        }
        let lenient = self.lenient || functions::accepts_missing(name);
        let mut arguments = Vec::new();
        while let Some((token, at)) = self
            .tokens
            .next_if(|(token, _)| !matches!(token, Token::Pipe | Token::Close(_)))
        {
            arguments.push(self.operand(token, at, lenient)?);
        }
        arguments.extend(piped);
        call(name, &arguments).map_err(|problem| error(problem, at))
    }

    fn operand(&mut self, token: Token, at: usize, lenient: bool) -> Result<String, TemplateError> {
        let path = match token {
            Token::Path(names) => path(self.dot, &names, at)?,
            Token::Variable(name, names) => path(&name, &names, at)?,
            Token::Text(text) => return Ok(literal(&text)),
            Token::Number(text) => {
                let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
                return if is_number {
                    Ok(text)
                } else {
                    Err(error(format!("`{text}` is not a number"), at))
                };
            }
            Token::Word(name) => match constant(&name) {
                Some(constant) => return Ok(constant.into()),
                None => return function_without_arguments(&name, at),
            },
            Token::Open => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(error("too many parentheses", at));
                }
                let value = self.pipeline()?;
                self.depth -= 1;
                let Some((Token::Close(names), _)) = self.tokens.next() else {
                    return Err(error("`(` has no `)`", at));
                };
                return if names.is_empty() {
                    Ok(value)
                } else {
                    path(&format!("({value})"), &names, at)
                };
            }
            Token::Close(_) => return Err(error("unexpected `)`", at)),
            Token::Pipe => return Err(error("unexpected `|`", at)),
        };
        Ok(if lenient {
            format!("({path}|default(none))")
        } else {
            path
        })
    }
}

/// The error of a function as an argument.
fn function_without_arguments(name: &str, at: usize) -> Result<String, TemplateError> {
    let problem = if functions::NAMES.contains(&name) {
        format!("put `{name}` and its arguments into parentheses")
    } else {
        format!("there is no function `{name}`: a variable is written `.{name}`")
    };
    Err(error(problem, at))
}

fn constant(name: &str) -> Option<&'static str> {
    match name {
        "true" => Some("true"),
        "false" => Some("false"),
        "nil" => Some("none"),
        _ => None,
    }
}

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Names in a value. The base is empty for variables.
fn path(base: &str, names: &[String], at: usize) -> Result<String, TemplateError> {
    let mut path = base.to_owned();
    for name in names {
        let is_plain =
            !RESERVED.contains(&name.as_str()) && !name.starts_with(|c: char| c.is_ascii_digit());
        if path.is_empty() {
            if !is_plain {
                return Err(error(
                    format!("a variable cannot have the name `{name}` here"),
                    at,
                ));
            }
            path.push_str(name);
        } else if is_plain {
            path.push('.');
            path.push_str(name);
        } else {
            path.push('[');
            path.push_str(&literal(name));
            path.push(']');
        }
    }
    if path.is_empty() {
        return Err(error("`.` alone has no meaning here: name a variable", at));
    }
    Ok(path)
}
