//! Parses tokens to an expression, by precedence climbing.
//!
//! Each function returns the depth of what it parsed. It is limited, because the evaluation and the destruction of an
//! expression are recursive.

use std::collections::BTreeSet;

use serde_json::{Number, Value};

use crate::expression::ast::{BinaryOp, Expr, MEMBERSHIP};
use crate::expression::error::{ParseError, shown};
use crate::expression::lexer::{KEYWORDS, Token, tokens};
use crate::expression::pattern::{PATTERN_BUDGET, compile_within};

/// The largest depth of an expression.
const MAX_DEPTH: usize = 100;

/// The largest expression, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// An expression, its variables, and the memory of its patterns.
pub(crate) struct Parsed {
    pub(crate) root: Expr,
    /// The names of its variables.
    pub(crate) names: BTreeSet<String>,
    /// The memory of its patterns.
    pub(crate) pattern_bytes: usize,
}

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<Parsed, ParseError> {
    if text.len() > MAX_BYTES {
        let problem = format!("the expression has more than {MAX_BYTES} bytes");
        return Err(ParseError::new(problem, 0));
    }
    let mut parser = Parser {
        tokens: tokens(text)?,
        index: 0,
        nested: 0,
        names: BTreeSet::new(),
        patterns: PATTERN_BUDGET,
    };
    let (root, _) = parser.binary(0)?;
    match parser.peek() {
        Token::End => Ok(Parsed {
            root,
            names: parser.names,
            pattern_bytes: PATTERN_BUDGET - parser.patterns,
        }),
        _ => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    index: usize,
    /// How deep the parser is in brackets and prefixes.
    nested: usize,
    names: BTreeSet<String>,
    /// The bytes that further patterns may have.
    patterns: usize,
}

/// An expression and its depth.
type WithDepth = Result<(Expr, usize), ParseError>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.index].0
    }

    fn position(&self) -> usize {
        self.tokens[self.index].1
    }

    fn unexpected(&self) -> ParseError {
        let before = self.index.checked_sub(1).map(|index| &self.tokens[index].0);
        let is_call = *self.peek() == Token::Symbol("(") && matches!(before, Some(Token::Word(_)));
        let is = |token: &Token, name: &str| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case(name));
        let hint = match self.peek() {
            token if is(token, "and") => " (`&&` is and)",
            token if is(token, "or") => " (`||` is or)",
            _ if before.is_some_and(|token| is(token, "not")) => " (`!` is not)",
            _ if is_call => " (there are no functions; a length is `name.length`)",
            _ => "",
        };
        ParseError::new(format!("unexpected {}{hint}", self.peek()), self.position())
    }

    fn take(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.index += 1;
        }
        found
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), ParseError> {
        if self.take(symbol) {
            return Ok(());
        }
        let problem = format!("expected `{symbol}`, found {}", self.peek());
        Err(ParseError::new(problem, self.position()))
    }

    /// One more than `depth`, if that is allowed.
    fn deeper(&self, depth: usize) -> Result<usize, ParseError> {
        if depth < MAX_DEPTH {
            return Ok(depth + 1);
        }
        let problem =
            format!("the expression is deeper than {MAX_DEPTH} levels: split it, simplify it");
        Err(ParseError::new(problem, self.position()))
    }

    fn operator(&self) -> Option<BinaryOp> {
        Some(match self.peek() {
            Token::Symbol(symbol) => match *symbol {
                "??" => BinaryOp::Coalesce,
                "||" => BinaryOp::Or,
                "&&" => BinaryOp::And,
                "==" => BinaryOp::Eq,
                "!=" => BinaryOp::Ne,
                "<" => BinaryOp::Lt,
                "<=" => BinaryOp::Le,
                ">" => BinaryOp::Gt,
                ">=" => BinaryOp::Ge,
                _ => return None,
            },
            Token::Word(word) => match word.as_str() {
                "in" => BinaryOp::In,
                "has" => BinaryOp::Has,
                "contains" => BinaryOp::Contains,
                "startsWith" => BinaryOp::StartsWith,
                "endsWith" => BinaryOp::EndsWith,
                "matches" => BinaryOp::Matches,
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Operators of this level and above.
    fn binary(&mut self, level: u8) -> WithDepth {
        let (mut left, mut depth) = self.unary()?;
        while let Some(op) = self.operator() {
            if op.level() < level {
                break;
            }
            self.index += 1;
            let position = self.position();
            let (right, right_depth) = self.binary(op.level() + 1)?;
            depth = self.deeper(depth.max(right_depth))?;
            left = self.combine(op, left, right, position)?;
            if op.level() == MEMBERSHIP
                && self.operator().is_some_and(|op| op.level() == MEMBERSHIP)
            {
                return Err(self.unexpected());
            }
        }
        Ok((left, depth))
    }

    fn combine(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        position: usize,
    ) -> Result<Expr, ParseError> {
        if let (BinaryOp::Matches, Expr::Literal(Value::String(pattern))) = (op, &right) {
            let pattern = compile_within(pattern, &mut self.patterns);
            let pattern = pattern.map_err(|problem| ParseError::new(problem, position))?;
            return Ok(Expr::Matches(Box::new(left), pattern));
        }
        Ok(Expr::Binary(op, Box::new(left), Box::new(right)))
    }

    /// Parses something that is inside something else.
    fn inside(&mut self, parse: impl FnOnce(&mut Self) -> WithDepth) -> WithDepth {
        self.nested = self.deeper(self.nested)?;
        let parsed = parse(self)?;
        self.nested -= 1;
        Ok(parsed)
    }

    fn unary(&mut self) -> WithDepth {
        if self.take("!") {
            let (operand, depth) = self.inside(Self::unary)?;
            return Ok((Expr::Not(Box::new(operand)), self.deeper(depth)?));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> WithDepth {
        let (mut expr, mut depth) = self.primary()?;
        loop {
            if self.take(".") {
                let Token::Word(name) = self.peek().clone() else {
                    let problem = format!("expected a name after `.`, found {}", self.peek());
                    return Err(ParseError::new(problem, self.position()));
                };
                self.index += 1;
                expr = Expr::Member(Box::new(expr), name);
                depth = self.deeper(depth)?;
            } else if self.take("[") {
                let (index, index_depth) = self.inside(|parser| parser.binary(0))?;
                self.expect("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
                depth = self.deeper(depth.max(index_depth))?;
            } else {
                return Ok((expr, depth));
            }
        }
    }

    fn primary(&mut self) -> WithDepth {
        let position = self.position();
        let literal = |value| Ok((Expr::Literal(value), 1));
        match self.peek().clone() {
            Token::Number(text) => {
                self.index += 1;
                literal(Value::Number(number(&text, position)?))
            }
            Token::Text(text) => {
                self.index += 1;
                literal(Value::String(text))
            }
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                self.index += 1;
                self.names.insert(word.clone());
                Ok((Expr::Name(word), 1))
            }
            Token::Word(word) if matches!(word.as_str(), "true" | "false" | "null") => {
                self.index += 1;
                literal(match word.as_str() {
                    "null" => Value::Null,
                    word => Value::Bool(word == "true"),
                })
            }
            Token::Symbol("(") => {
                self.index += 1;
                let parsed = self.inside(|parser| parser.binary(0))?;
                self.expect(")")?;
                Ok(parsed)
            }
            Token::Symbol("[") => {
                self.index += 1;
                self.list()
            }
            _ => Err(self.unexpected()),
        }
    }

    fn list(&mut self) -> WithDepth {
        let (mut items, mut depth) = (Vec::new(), 0);
        if !self.take("]") {
            loop {
                let (item, item_depth) = self.inside(|parser| parser.binary(0))?;
                items.push(item);
                depth = depth.max(item_depth);
                if !self.take(",") {
                    break;
                }
            }
            self.expect("]")?;
        }
        Ok((Expr::List(items), self.deeper(depth)?))
    }
}

fn number(text: &str, position: usize) -> Result<Number, ParseError> {
    if let Ok(number) = text.parse::<i64>() {
        return Ok(number.into());
    }
    let number = text.parse().ok().and_then(Number::from_f64);
    number.ok_or_else(|| {
        ParseError::new(format!("`{}` is too large a number", shown(text)), position)
    })
}
