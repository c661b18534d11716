//! Parsed expressions.

use regex::Regex;
use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Literal(Value),
    Name(String),
    List(Vec<Expr>),
    Member(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `matches` with a literal pattern.
    Matches(Box<Expr>, Regex),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Coalesce,
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    Has,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
}

impl BinaryOp {
    /// The precedence, lowest first.
    pub(crate) fn level(self) -> u8 {
        match self {
            BinaryOp::Coalesce => 0,
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Eq | BinaryOp::Ne => 3,
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 4,
            _ => MEMBERSHIP,
        }
    }
}

/// The level of the operators that cannot be chained.
pub(crate) const MEMBERSHIP: u8 = 5;
